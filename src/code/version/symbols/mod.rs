//! What a file says of the addresses in it: functions, and lines of source.

#[cfg_attr(feature = "code", path = "file.rs")]
#[cfg_attr(not(feature = "code"), path = "none.rs")]
mod leaf;
#[cfg(feature = "code")]
mod spans;

pub(crate) use leaf::Symbols;
