//! Output of commands. Unlike `println!`, which a clippy lint keeps out of the command, nothing here panics.

use std::io::{self, Write as _};

use anyhow::Context as _;

/// Writes the text to standard output. If the reader of the pipe is gone, `main` ends the command with success.
pub fn write(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}

/// Writes the text to standard output, with its colours only on a terminal.
pub fn write_coloured(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}

pub fn flush() -> anyhow::Result<()> {
    io::stdout().flush().context("cannot write to standard output")
}

/// Writes a piece of text to standard error, as `say!` writes a line.
pub fn say_part(text: &str) {
    // There is no other place to report a failure.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// Writes a line to standard error, coloured on a terminal. Without a reader the line is lost and the command goes on.
macro_rules! say {
    ($($line:tt)*) => {{
        use std::io::Write as _;
        // There is no other place to report a failure.
        let _ = writeln!(anstream::stderr(), $($line)*);
    }};
}
