//! The exit statuses of the command, apart from those of the programs it runs.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitCode, ExitStatus};

/// Wrong use: unknown options, a script that does not exist. (clap's number.)
pub const USAGE: u8 = 2;
/// Events of the trace were lost.
pub const LOSSY: u8 = 3;
/// The trace is damaged. What is whole was shown or converted nevertheless.
pub const DAMAGED: u8 = 4;
/// The program has no probes, or none that the script names.
pub const NO_PROBES: u8 = 65;
/// There is no such trace, or it cannot be read.
pub const NO_TRACE: u8 = 66;
/// No tracer can be used: none installed, too old, no rights.
pub const NO_TRACER: u8 = 69;
/// The tracer failed.
pub const TRACER_FAILED: u8 = 70;
/// The command was found but cannot be run. (As in shells.)
pub const NOT_EXECUTABLE: u8 = 126;
/// The command was not found. (As in shells.)
pub const NOT_FOUND: u8 = 127;

/// The exit status of a command that ended so.
pub fn like(status: ExitStatus) -> ExitCode {
    status.code().map_or_else(
        || by_signal(status.signal().unwrap_or_default()),
        |code| ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)),
    )
}

/// The exit status that shells give a command that a signal has ended.
pub fn by_signal(signal: i32) -> ExitCode {
    ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))
}

/// An error, and the exit status it ends the command with.
#[derive(Debug)]
pub struct Failure {
    /// The exit status.
    pub status: u8,
    /// What to tell the user.
    pub error: anyhow::Error,
}

impl Failure {
    /// A failure of the command with `status`.
    pub fn new(status: u8, error: impl Into<anyhow::Error>) -> Failure {
        Failure { status, error: error.into() }
    }
}

/// Any other error: 1.
impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure { status: 1, error }
    }
}

/// The outcome of a command.
pub type Outcome = Result<ExitCode, Failure>;
