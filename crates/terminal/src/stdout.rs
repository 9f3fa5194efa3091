//! Output of commands. Unlike `println!`, which a clippy lint keeps out of the command, nothing here panics.

use std::fmt;
use std::io::{self, BufWriter, Write as _};

use anyhow::Context as _;
use serde::Serialize;
use serde_json::{to_writer, to_writer_pretty};

use crate::escape;

/// Writes the text to standard output. If the reader of the pipe is gone, `main` ends the command with success.
pub fn write(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}

/// Writes the value to standard output while it is made into JSON, as it may be large: on one line, or on several.
pub fn write_json(value: &impl Serialize, is_one_line: bool) -> anyhow::Result<()> {
    let mut out = escape::Json(BufWriter::new(io::stdout().lock()));
    let made = if is_one_line { to_writer(&mut out, value) } else { to_writer_pretty(&mut out, value) };
    made.map_err(io::Error::from)
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush())
        .context("cannot write to standard output")
}

/// Writes the text to standard output, with its colours only on a terminal.
pub fn write_coloured(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}

/// Whether an error is that nobody reads the output any more.
pub fn is_unread(error: &anyhow::Error) -> bool {
    error.downcast_ref().is_some_and(|error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Writes what standard output still holds.
pub fn flush() -> anyhow::Result<()> {
    io::stdout().flush().context("cannot write to standard output")
}

/// Writes a piece of text to standard error, as [`say!`](crate::say) writes a line.
pub fn say_part(text: &str) {
    // There is no other place to report a failure.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// Writes a line to standard error, as [`say!`](crate::say) does.
pub fn say_line(line: fmt::Arguments<'_>) {
    // There is no other place to report a failure.
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// Writes a line to standard error, coloured on a terminal. Without a reader the line is lost and the command goes on.
#[macro_export]
macro_rules! say {
    ($($line:tt)*) => { $crate::stdout::say_line(format_args!($($line)*)) };
}
