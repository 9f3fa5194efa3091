//! Locks, channels, timers and sockets: the modules `sync`, `time` and `net` of the crate [dyntrace](https://docs.rs/dyntrace), which
//! programs use.
#![cfg_attr(not(unix), allow(unused))]

#[cfg(any(all(feature = "sync", not(loom)), feature = "time"))]
mod inner;
#[cfg(all(feature = "net", not(loom)))]
pub mod net;
#[cfg(all(feature = "sync", not(loom)))]
pub mod sync;
#[cfg(feature = "time")]
pub mod time;
