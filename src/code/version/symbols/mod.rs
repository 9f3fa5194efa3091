//! What a file says of the addresses in it: functions, and lines of source.

mod file;
mod spans;

pub(crate) use file::Symbols;
