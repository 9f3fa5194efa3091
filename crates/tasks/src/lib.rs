//! Reads the tasks of a tokio program from outside: a program that knows nothing of it, optimised, running and not stopped, or its
//! core file.
#![cfg(target_os = "linux")]

pub mod dwarf;
pub mod future;
mod leaf;
pub mod listing;
pub mod locks;
pub mod memory;
