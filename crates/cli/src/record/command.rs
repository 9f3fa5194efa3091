//! A command that records itself, by the options in its environment.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::mpsc;

use anyhow::{Context as _, anyhow};
use dyntrace::recorder::Options;
use dyntrace_runs::command::Running;
use dyntrace_terminal::escape;
use dyntrace_terminal::exit::{self, Failure};
use dyntrace_terminal::signals::{self, Notice};

use super::progress::{PAUSE, Progress};

/// Runs the command to its end, and forwards signals to it.
pub fn run(program: &Path, words: &[OsString], options: &Options) -> Result<ExitStatus, Failure> {
    let (sender, notices) = mpsc::channel();
    signals::receive(move |notice| sender.send(notice).is_ok())?;
    let child = Command::new(program).arg0(&words[0]).args(&words[1..]).env("DYNTRACE", options.to_string()).spawn();
    let child = child.map_err(|error| {
        Failure::new(exit::NOT_EXECUTABLE, anyhow!("cannot start {}: {error}", escape::path(program)))
    })?;
    let mut running = Running::new(child);
    let mut progress = Progress::new(&options.directory);
    loop {
        running.poll().context("cannot wait for the command")?;
        if let Some(status) = running.ended {
            return Ok(status);
        }
        match signals::next(&notices, PAUSE)? {
            // The terminal also sent its signals to the command.
            Some(Notice::Signal(signal)) if !signal.is_from_terminal => running.send(signal.number),
            Some(Notice::Signal(_) | Notice::ChildChanged) => {}
            None => progress.show(),
        }
    }
}
