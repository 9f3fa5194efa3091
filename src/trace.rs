//! Traces functions of a running program: [`Session`]s set [`Pattern`]s that select functions with the attribute
//! [`traced`](crate::traced).

pub use crate::breakpoint::pattern::{Pattern, PatternError};
#[cfg(target_os = "linux")]
pub use crate::breakpoint::remote;
pub use crate::breakpoint::{
    Address, Caller, Count, Error, Event, Function, HeldUp, Info, Kind, Limits, Memory, PatternId, PatternInfo,
    Session, Source, Stack, Text,
};
