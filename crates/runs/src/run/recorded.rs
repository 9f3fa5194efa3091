//! A shipped script without a tracer: the command records itself, and the script's lines are made from its events as they come.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{self, Receiver};

use anyhow::{Context as _, anyhow};
use dyntrace_analysis::losses;
use dyntrace_analysis::render::{Rendering, Settings};
use dyntrace_analysis::view::{Live, PAUSE};
use dyntrace_reader::{Event, Follower, Trace};
use dyntrace_terminal::exit::{self, Failure, Outcome};
use dyntrace_terminal::signals::{self, Notice};
use dyntrace_terminal::stdout::is_unread;
use dyntrace_terminal::temporary::Temporary;
use dyntrace_terminal::{escape, say};

use crate::command::Running;
use crate::script::Named;

use super::output::Sink;
use super::tag::Tag;
use super::target::{Asked, Target};
use super::wish::{nothing, wish};

/// Runs the command and prints its events to the file `output` or to standard output as `rendering` shows them, if a `tag` is given only
/// those that have it.
pub fn run(
    rendering: &'static Rendering,
    target: &Target,
    tag: Option<&Tag>,
    settings: &Settings,
    output: Option<&Path>,
) -> Outcome {
    let Asked::Command(words) = &target.asked else {
        unreachable!("the recorder is chosen for commands only");
    };
    target.sites(&Named::exactly(rendering.probes().into_iter()))?;
    let sink = Sink::open(output)?;
    let temporary = Temporary::new()?;
    let folder = temporary.path().join("trace");
    let (sender, notices) = mpsc::channel();
    signals::receive(move |notice| sender.send(notice).is_ok())?;

    let running = start(wish(&folder, rendering, tag), target, words)?;
    let mut of_tag = tag.map(Tag::selection);
    let mut live = Live {
        from: Follower::new([&folder]),
        format: sink.format(rendering, settings),
        is_wanted: |event: &Event<'_>| {
            rendering.needs(event) && of_tag.as_mut().is_none_or(|of_tag| of_tag.takes(event))
        },
        to: sink,
    };
    let (status, unprinted) = follow(&mut live, &folder, running, &notices)?;
    outcome(status, unprinted, &live.from, &folder, &target.program)
}

/// `wish`: for the variable `DYNTRACE` of the command.
fn start(wish: String, target: &Target, words: &[OsString]) -> Result<Running, Failure> {
    let mut command = Command::new(&target.program);
    command.arg0(&words[0]).args(&words[1..]).env("DYNTRACE", wish);
    command.spawn().map(Running::new).map_err(|error| {
        let program = escape::path(&target.program);
        Failure::new(exit::NOT_EXECUTABLE, anyhow!("cannot start {program}: {error}"))
    })
}

/// Prints events until the command has ended, and then those that are left. If printing fails, the command goes on, and the error is
/// returned.
fn follow(
    live: &mut Live<Sink, impl FnMut(&Event<'_>) -> bool>,
    folder: &Path,
    mut running: Running,
    notices: &Receiver<Notice>,
) -> anyhow::Result<(ExitStatus, Option<anyhow::Error>)> {
    let mut unprinted = None;
    loop {
        if let Some(Notice::Signal(signal)) = signals::next(notices, PAUSE)?
            && !signal.is_from_terminal
        {
            running.send(signal.number);
        }
        running.poll().context("cannot wait for the command")?;
        // The command makes the folder when it begins to record, which takes a while on a busy machine.
        if unprinted.is_none() && folder.exists() {
            let printed = if running.ended.is_some() { live.end() } else { live.look().map(|_| ()) };
            unprinted = printed.inspect_err(say).err();
        }
        if let Some(status) = running.ended {
            return Ok((status, unprinted));
        }
    }
}

fn say(error: &anyhow::Error) {
    if !is_unread(error) {
        say!("dyntrace: cannot print the trace any more: {error:#}");
    }
}

/// The exit status: the command's own unless that is 0 and the trace is not whole.
fn outcome(
    status: ExitStatus,
    unprinted: Option<anyhow::Error>,
    from: &Follower,
    folder: &Path,
    program: &Path,
) -> Outcome {
    let losses = from.losses();
    losses::say(&losses);
    let has_recorded = folder.exists() && !matches!(Trace::open(folder), Err(dyntrace_reader::Error::NoTrace { .. }));
    let why = || nothing(folder.parent().unwrap_or(folder), program).error;
    if !status.success() {
        if !has_recorded {
            say!("dyntrace: {:#}", why());
        }
        return Ok(exit::like(status));
    }
    if !has_recorded {
        return Err(Failure::new(exit::TRACER_FAILED, why()));
    }
    match unprinted {
        // It was told when it happened.
        Some(error) if !is_unread(&error) => Ok(exit::LOSSY.into()),
        // As in `dyntrace record`.
        _ => Ok(losses::status(&losses)),
    }
}
