//! On other systems DTrace starts the command itself, and holds it while it enables probes.

use std::io;
use std::process::{Child, Command};

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

/// Starts `command` and holds it.
pub fn hold(_command: &mut Command) -> io::Result<(Child, Held)> {
    Err(io::ErrorKind::Unsupported.into())
}
