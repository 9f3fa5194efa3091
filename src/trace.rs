//! Tracing of a running program's functions: which ones, by [`Pattern`].

pub use crate::breakpoint::pattern::{Pattern, PatternError};
