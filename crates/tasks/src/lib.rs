//! Reads the tasks of a tokio program from outside: a program that knows nothing of it, optimised, running and not
//! stopped, or its core file.
#![cfg(target_os = "linux")]

pub mod calls;
pub mod cell;
pub mod census;
pub mod debug_file;
pub mod dwarf;
pub mod error;
pub mod future;
pub mod image;
mod leaf;
pub mod listing;
pub mod locks;
pub mod memory;
pub mod names;
pub mod owned;
pub mod program;
pub mod scan;
pub mod symbols;
pub mod vtables;
