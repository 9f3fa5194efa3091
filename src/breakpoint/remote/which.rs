//! Processes as clients name them.

use std::fmt;
use std::str::FromStr;

use dyntrace_processes::process::{ParsePidError, Pid, Processes};

/// Processes as clients name them: `<0.57.0>`, `existing` or `new`. The traced process knows which exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// This process.
    One(Pid),
    /// All processes of now.
    Existing,
    /// All processes that start from now on.
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
