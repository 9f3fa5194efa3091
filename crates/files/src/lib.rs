//! File operations: the modules `aio_pool`, `efile` and `fs` of the crate [dyntrace](https://docs.rs/dyntrace), which programs use.
#![cfg_attr(not(unix), allow(unused))]
// The pool has items that only the file driver uses.
#![cfg_attr(not(feature = "fs"), allow(dead_code, unused_imports))]

pub mod aio_pool;
#[cfg(feature = "fs")]
pub mod efile;
#[cfg(all(test, not(any(loom, miri))))]
#[path = "../../../tests/common/forked.rs"]
mod forked;
#[cfg(feature = "fs")]
pub mod fs;
