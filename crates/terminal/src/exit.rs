//! The exit statuses of the command itself.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitCode, ExitStatus};

/// Wrong use: unknown options, a script that does not exist. (clap's number.)
pub const USAGE: u8 = 2;
/// Events of the trace were lost.
pub const LOSSY: u8 = 3;
/// The trace is damaged; its sound parts were shown or converted.
pub const DAMAGED: u8 = 4;
/// Part of the program or of the trace was not seen, and nothing was found in the rest: the answer is neither yes nor no.
pub const UNKNOWN: u8 = 5;
/// The program has no probes, or none that the script names; or the process cannot be controlled.
pub const NO_PROBES: u8 = 65;
/// There is no such trace, or it cannot be read.
pub const NO_TRACE: u8 = 66;
/// No tracer can be used.
pub const NO_TRACER: u8 = 69;
/// The tracer or the recorder failed.
pub const TRACER_FAILED: u8 = 70;
/// As in shells.
pub const NOT_EXECUTABLE: u8 = 126;
/// As in shells.
pub const NOT_FOUND: u8 = 127;

/// The exit status of a command that was run.
pub fn like(status: ExitStatus) -> ExitCode {
    status.code().map_or_else(
        || by_signal(status.signal().unwrap_or_default()),
        |code| ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)),
    )
}

/// The exit status in shells of a command that a signal ended.
pub fn by_signal(signal: i32) -> ExitCode {
    ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))
}

/// An error, and the exit status of the command for it.
#[derive(Debug)]
pub struct Failure {
    /// The exit status.
    pub status: u8,
    /// The error.
    pub error: anyhow::Error,
}

impl Failure {
    /// An error with this exit status.
    pub fn new(status: u8, error: impl Into<anyhow::Error>) -> Failure {
        Failure { status, error: error.into() }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure { status: 1, error }
    }
}

/// The result of a subcommand.
pub type Outcome = Result<ExitCode, Failure>;
