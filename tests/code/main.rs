//! Modules as real libraries, each with its own copy of this crate.
#![cfg(all(target_os = "linux", not(miri)))]

mod example;
mod faults;
mod files;
mod fork;
#[path = "../common/forked.rs"]
mod forked;
mod kill;
mod life;
mod memory;
#[path = "../common/missing.rs"]
mod missing;
mod remote;
mod support;
mod trust;
mod types;
