//! On other systems DTrace is given the process by `-p`, and ends with it.

use std::io;

/// Whether scripts name the process by its number.
pub const BY_NUMBER: bool = false;

/// Calls `then` when process `pid` has ended: not asked for here.
pub fn when_ended(_pid: u32, _then: impl FnOnce() + Send + 'static) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
