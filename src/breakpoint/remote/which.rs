//! Processes as a client names them.

use std::fmt;
use std::str::FromStr;

use crate::process::{ParsePidError, Pid, Processes};

/// Processes as a client names them: `<0.57.0>`, `existing` or `new`. Which exist, the process that is traced knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// This one.
    One(Pid),
    /// All that have a pid by now.
    Existing,
    /// All that get their pid from now on.
    New,
}

impl From<Which> for Processes {
    fn from(which: Which) -> Processes {
        match which {
            Which::One(process) => process.into(),
            Which::Existing => Processes::existing(),
            Which::New => Processes::to_come(),
        }
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Which::One(process) => process.fmt(f),
            Which::Existing => f.write_str("existing"),
            Which::New => f.write_str("new"),
        }
    }
}

impl FromStr for Which {
    type Err = ParsePidError;

    fn from_str(text: &str) -> Result<Which, ParsePidError> {
        match text {
            "existing" => Ok(Which::Existing),
            "new" => Ok(Which::New),
            process => process.parse().map(Which::One),
        }
    }
}
