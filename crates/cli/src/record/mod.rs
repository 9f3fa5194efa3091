//! `dyntrace record`: a program records itself, from its start or from now on.

mod arguments;
pub mod attach;
mod command;
mod end;
pub mod filter;
pub mod folder;
pub mod process;
mod progress;
pub mod summary;

use std::path::Path;
use std::process::{ExitCode, ExitStatus};

use anyhow::Context as _;
use dyntrace_folders::Folder;

use crate::escape;
use crate::exit::{self, Failure, Outcome};

use summary::Summary;

pub use arguments::{Arguments, HELP, size};
use command::run;
use end::end;

/// Records and prints the summary.
pub fn record(arguments: &Arguments) -> Outcome {
    let directory = folder::choose(arguments.output.as_deref(), "trace")?;
    let options = arguments.options(&directory)?;
    let status = match arguments.pid {
        Some(pid) => process::record(pid, &options).map(|()| None)?,
        None => {
            make(&directory)?;
            Some(run(&arguments.command_line, &options)?)
        }
    };
    // A program that ends does not remove it, even if it is empty.
    let _ = dyntrace_folders::remove_empty(&options.snapshots_directory());
    match finish(&directory, arguments.json) {
        // The status of a failed command has priority.
        Ok(_) if status.is_some_and(|status| !status.success()) => Ok(like(status)),
        Err(failure) if status.is_some_and(|status| !status.success()) => {
            say!("dyntrace: {:#}", failure.error);
            Ok(like(status))
        }
        other => other,
    }
}

fn like(status: Option<ExitStatus>) -> ExitCode {
    status.map_or(ExitCode::SUCCESS, exit::like)
}

/// Fails before the command starts if nothing can be written.
fn make(directory: &Path) -> anyhow::Result<()> {
    Folder::make(directory)
        .map(drop)
        .with_context(|| format!("cannot make the folder {}: choose another one with -o", escape::path(directory)))
}

/// Finishes the trace and prints the summary on standard error, since standard output is the command's.
fn finish(directory: &Path, json: bool) -> Result<ExitCode, Failure> {
    end(directory)?;
    let summary = Summary::of(directory)?;
    let status = summary.say_losses();
    let line = if json { summary.json() } else { summary.line("recording") };
    say!("{line}");
    if !json && let Some(line) = summary.snapshots_line() {
        say!("{line}");
    }
    Ok(status)
}
