//! Reads a program's tasks, as often as a command looks.

use std::path::PathBuf;

use dyntrace_tasks::error::Error;
use dyntrace_tasks::listing::Listing;
use dyntrace_tasks::program::{Options, Program};
use dyntrace_tasks::reading::{DebugInformation, Described};

use crate::exit::{self, Failure, Outcome};

/// How a program is read.
pub struct How {
    pub debug_file: Option<PathBuf>,
    pub stop: bool,
}

/// Attaches to process `pid`, and gives `looks` a function that reads its tasks as they are at each call.
pub fn with(pid: u32, how: &How, looks: impl FnOnce(&dyn Fn() -> Result<Listing, Failure>) -> Outcome) -> Outcome {
    let options = Options { debug_file: how.debug_file.clone(), stop: how.stop };
    let program = Program::attach(pid, options).map_err(failure)?;
    let information = DebugInformation::of(&program);
    let described = Described::of(&program, &information);
    looks(&|| program.listing(&described).map_err(failure))
}

pub fn failure(error: Error) -> Failure {
    let status = match error {
        Error::NoProcess { .. } | Error::NoVtables { .. } => exit::NO_PROBES,
        _ => 1,
    };
    // The messages contain their sources; paths in them are the program's.
    Failure::new(status, anyhow::Error::msg(crate::escape::name(error.to_string())))
}
