//! Tracing of a running program's functions: those with the attribute [`traced`](crate::traced), by [`Pattern`], in
//! [`Session`]s.

pub use crate::breakpoint::pattern::{Pattern, PatternError};
#[cfg(target_os = "linux")]
pub use crate::breakpoint::remote;
pub use crate::breakpoint::{
    Address, Caller, Count, Error, Event, Function, HeldUp, Info, Kind, Limits, Memory, PatternId, PatternInfo,
    Session, Source, Stack, Text,
};
