//! On other systems DTrace gets the process by `-p`, and ends with it.

use std::io;
use std::process::Command;

/// Whether scripts name the process by its number.
pub const BY_NUMBER: bool = false;

/// Has `command` terminated when the thread that starts it ends: not needed here.
pub fn end_with_this_thread(_command: &mut Command) {}

/// Permission to signal DTrace. Here nothing tells whether it writes.
pub struct Stopped;

impl Stopped {
    /// Returns it at once.
    pub fn between_writes(_pid: u32) -> Option<Stopped> {
        Some(Stopped)
    }
}

/// Calls `then` when process `pid` has ended: not needed here.
pub fn when_ended(_pid: u32, _then: impl FnOnce() + Send + 'static) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
