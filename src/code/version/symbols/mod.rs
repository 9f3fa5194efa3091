//! The symbols of a file: functions and source lines by address.

#[cfg_attr(feature = "code", path = "file.rs")]
#[cfg_attr(not(feature = "code"), path = "none.rs")]
mod leaf;
#[cfg(feature = "code")]
mod spans;

pub(crate) use leaf::Symbols;
