//! Standard output, for commands that write a text at their end: the only way to it besides those that write events as
//! they come. Nothing here panics, as `println!` would. A clippy lint keeps that macro out of the command.

use std::io::{self, Write as _};

use anyhow::Context as _;

/// Writes the text.
///
/// # Errors
///
/// The system's: the disk is full, or the reader of the pipe is gone. `main` ends the command with success for the latter.
pub fn write(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}

/// Writes what commands left in the buffer.
///
/// # Errors
///
/// As [`write()`].
pub fn flush() -> anyhow::Result<()> {
    io::stdout().flush().context("cannot write to standard output")
}

/// Says a piece of text on standard error, as `say!` says a line.
pub fn say_part(text: &str) {
    // There is no other place to say it.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// Says a line on standard error, with colours where it shows them. Without a reader for it, the line is lost and the
/// command goes on.
macro_rules! say {
    ($($line:tt)*) => {{
        use std::io::Write as _;
        // There is no other place to say it.
        let _ = writeln!(anstream::stderr(), $($line)*);
    }};
}
