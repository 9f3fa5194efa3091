//! The dyntrace shared by the program and its libraries.

pub use dyntrace::*;
