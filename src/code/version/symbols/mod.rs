//! The symbols of a file: functions and source lines by address.

mod file;
mod spans;

pub(crate) use file::Symbols;
