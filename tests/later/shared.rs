//! The one dyntrace of the program and its libraries.

pub use dyntrace::*;
