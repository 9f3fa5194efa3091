//! `dyntrace record`: a program records itself, from its start or from now on.

mod arguments;
pub mod attach;
mod command;
mod end;
pub mod filter;
pub mod folder;
pub mod process;
mod progress;
pub mod session;
pub mod summary;

use std::ffi::OsString;
use std::path::Path;
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;

use anyhow::Context as _;
use dyntrace::recorder::Options;
use dyntrace_folders::Folder;
use dyntrace_runs::command::locate;
use dyntrace_terminal::exit::{self, Failure, Outcome};
use dyntrace_terminal::{escape, say};

use summary::Summary;

pub use arguments::Arguments;
#[cfg(feature = "full")]
pub use arguments::size;
use command::run;
use end::{Subject, end};
use progress::{PAUSE, Progress};
use session::Session;

/// Records and prints the summary.
pub fn record(arguments: &Arguments) -> Outcome {
    let directory = folder::choose(arguments.output.as_deref(), "trace")?;
    let options = arguments.options(&directory)?;
    let (status, subject) = match arguments.pid {
        Some(pid) => {
            arguments.events.check_process(pid)?;
            follow(pid, &options, arguments.length)?;
            (None, Subject::Process(pid))
        }
        None => {
            let words = &arguments.command_line;
            let program = locate(words.first().map_or("".as_ref(), OsString::as_os_str))?;
            arguments.events.check_program(&program, &program)?;
            make(&directory)?;
            (Some(run(&program, words, &options)?), Subject::Program(program))
        }
    };
    match finish(&options, &subject, arguments.json) {
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

/// Records process `pid` until a signal arrives, the process ends, or the time is over.
fn follow(pid: u32, options: &Options, length: Option<Duration>) -> Result<(), Failure> {
    let mut session = Session::start(pid, options)?;
    session.last_for(length);
    let mut progress = Progress::new(&options.directory);
    while session.is_open() && !session.is_over_within(PAUSE) {
        progress.show();
    }
    session.stop()
}

/// Fails before the command starts if nothing can be written.
fn make(directory: &Path) -> anyhow::Result<()> {
    Folder::make(directory)
        .map(drop)
        .with_context(|| format!("cannot make the folder {}: choose another one with -o", escape::path(directory)))
}

/// Finishes the trace and prints the summary on standard error, since standard output is the command's.
fn finish(options: &Options, subject: &Subject, json: bool) -> Result<ExitCode, Failure> {
    end(options, subject)?;
    let summary = Summary::of_seen(&options.directory)?;
    let status = summary.say_losses();
    let line = if json { summary.json() } else { summary.line("recording") };
    say!("{line}");
    if !json && let Some(line) = summary.snapshots_line() {
        say!("{line}");
    }
    Ok(status)
}
