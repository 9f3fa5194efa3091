//! Modules as programs load them: real libraries, each with a copy of this crate of its own.
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
