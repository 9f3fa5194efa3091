//! Errors of starting a monitor.

use std::fmt;
use std::io;
use std::panic::Location;

use super::limits::LimitsError;
use crate::recorder::control::ControlError;

/// Why a monitor cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The limits are invalid.
    #[error("cannot start a monitor: {0}")]
    Limits(LimitsError),
    /// The program has a monitor.
    #[error("cannot start a monitor: the program has one{}; drop that one first, or give one builder all limits", At(*.0))]
    Running(Option<&'static Location<'static>>),
    /// There is no table of tasks.
    #[error("cannot start a monitor: {0}")]
    Tasks(ControlError),
    /// There is no thread.
    #[error("cannot start the thread of the monitor: {0}; free memory or allow more threads (ulimit -u, pids.max)")]
    Thread(io::Error),
    /// The program is built without probes, or this is a module.
    #[error("cannot start a monitor: {0}")]
    Unsupported(io::Error),
}

impl From<LimitsError> for Error {
    fn from(error: LimitsError) -> Error {
        Error::Limits(error)
    }
}

struct At(Option<&'static Location<'static>>);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |place| write!(f, ", started at {}:{}", place.file(), place.line()))
    }
}
