//! Tells people on standard error how a program ends.

use std::io;
use std::process::ExitCode;

use dyntrace_terminal::exit::Failure;
use dyntrace_terminal::{escape, say};

/// Returns the exit status of a program. Tells its failure.
pub fn status(result: Result<ExitCode, Failure>) -> ExitCode {
    match result {
        Ok(status) => status,
        // The reader of the pipe wants no more lines.
        Err(Failure { error, .. }) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(Failure { status, error }) => {
            warn(&format!("{error:#}"));
            status.into()
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|error| error.downcast_ref().is_some_and(|error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe))
}

/// Writes an error, or a warning, as the command `dyntrace` does.
pub fn warn(text: &str) {
    say!("dyntrace: {}", escape::lines(text));
}
