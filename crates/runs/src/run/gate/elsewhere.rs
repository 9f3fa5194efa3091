//! On other systems DTrace starts the command itself, and holds it while it enables probes.

use std::io;
use std::process::Command;

use super::Started;

/// Whether commands can be held here.
pub const IS_SUPPORTED: bool = false;

/// A child before its first instruction: there is none here.
#[derive(Debug)]
pub enum Held {}

impl Held {
    /// Lets the child run.
    pub fn release(self) -> io::Result<()> {
        match self {}
    }
}

/// Starts `command` and holds it; `entry` tells the address of the first instruction in the process of the given number.
pub fn hold(_command: &mut Command, _entry: impl Fn(u32) -> io::Result<u64>) -> io::Result<Started> {
    Err(io::ErrorKind::Unsupported.into())
}
