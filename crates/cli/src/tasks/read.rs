//! Reads a program's tasks, as often as a command looks.

use std::fmt;
use std::path::Path;

use dyntrace_tasks::error::Error;
use dyntrace_tasks::listing::Listing;
use dyntrace_tasks::program::{Options, Program};
use dyntrace_tasks::reading::{DebugInformation, Described};

use crate::escape;
use crate::exit::{self, Failure, Outcome};

/// The process or core file that a command reads.
pub enum Target<'a> {
    Process(u32),
    Core { core: &'a Path, exe: &'a Path },
}

/// `process 4711`, or `core file core.4711`.
impl fmt::Display for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Process(pid) => write!(f, "process {pid}"),
            Target::Core { core, .. } => write!(f, "core file {}", escape::path(core)),
        }
    }
}

impl Target<'_> {
    /// The options of a command that name it.
    pub fn options(&self) -> String {
        match self {
            Target::Process(pid) => format!("-p {pid}"),
            Target::Core { core, exe } => format!("--core {} --exe {}", escape::path(core), escape::path(exe)),
        }
    }

    /// Whether its tasks may be others at a later look.
    pub fn runs(&self) -> bool {
        matches!(self, Target::Process(_))
    }
}

/// Opens `target`, and gives `looks` a function that reads its tasks as they are at each call.
pub fn with(
    target: &Target<'_>,
    options: Options,
    looks: impl FnOnce(&dyn Fn() -> Result<Listing, Failure>) -> Outcome,
) -> Outcome {
    let program = match target {
        Target::Process(pid) => Program::attach(*pid, options),
        Target::Core { core, exe } => Program::open_core(core, exe, options),
    };
    let program = program.map_err(failure)?;
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
    Failure::new(status, anyhow::Error::msg(escape::name(error.to_string())))
}
