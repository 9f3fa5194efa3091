//! Requests to a process over its control socket.

use std::io;
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::anyhow;
use dyntrace::recorder::Options;
use dyntrace::recorder::control::protocol::{Record, Request};
use dyntrace::recorder::control::{Connection, ControlError, Ender};

use crate::exit::{self, Failure};
use crate::signals::{self, Notice};

use super::attach::attach;
use super::progress::{PAUSE, Progress};

/// How long a process may take to start or end a session: ending one may take it ten seconds. It may be stopped.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// Records process `pid` until a signal arrives or the process ends.
pub fn record(pid: u32, options: &Options) -> Result<(), Failure> {
    let mut connection = connect(pid)?;
    let (sender, notices) = mpsc::channel();
    signals::receive(move |notice| sender.send(notice).is_ok())?;
    let started = connection.request_within(&Request::Start(options.clone()), PATIENCE).map_err(refusal)?;
    let session = number(&started, "session")?;
    let mut progress = Progress::new(&options.directory);
    let proc = format!("/proc/{pid}");
    // A forked child may keep the socket open after the process has ended.
    while connection.is_open() && Path::new(&proc).exists() {
        match signals::next(&notices, PAUSE)? {
            Some(Notice::Signal(signal)) if signal.ends_command() => {
                return match connection.request_within(&Request::Stop(session), PATIENCE) {
                    Ok(_) => Ok(()),
                    // The process ended meanwhile.
                    Err(ControlError::System { .. }) if !connection.is_open() => Ok(()),
                    Err(error) => Err(refusal(error)),
                };
            }
            Some(Notice::Signal(_) | Notice::ChildChanged) => {}
            None => progress.show(),
        }
    }
    Ok(())
}

/// The first signal ends what the connection was asked for; the second one does not wait for the last counts.
pub fn end_by_signal(ender: Ender) -> anyhow::Result<()> {
    let is_ending = AtomicBool::new(false);
    let tell = move |notice| {
        if let Notice::Signal(signal) = notice
            && signal.ends_command()
        {
            // Relaxed: only one thread uses it.
            if is_ending.swap(true, Ordering::Relaxed) {
                process::exit(128 + signal.number);
            }
            ender.end();
        }
        true
    };
    signals::receive(tell)
}

/// Whether an error of reading says that the process has ended.
pub fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset)
}

/// Connects to a process. If it has no control socket, it is asked to open one.
pub fn connect(pid: u32) -> Result<Connection, Failure> {
    match Connection::open(pid) {
        Err(ControlError::NoControl(_)) => attach(pid),
        other => other.map_err(refusal),
    }
}

/// Sends a request whose answer may come in several parts.
pub fn ask(connection: &mut Connection, request: &Request) -> Result<Vec<Record>, ControlError> {
    let mut records = connection.request(request)?;
    while records.last().and_then(|record| record.number("more")) == Some(1) {
        records.pop();
        records.extend(connection.hear()?);
    }
    Ok(records)
}

/// The failure if a process cannot be reached or refuses a request.
pub fn refusal(error: ControlError) -> Failure {
    let status = match error {
        ControlError::NoControl(_) | ControlError::NoProcess(_) => exit::NO_PROBES,
        _ => 1,
    };
    Failure::new(status, error)
}

/// The session to act on: the `wanted` one, else the only one that fits. `none` is the error if none fits.
pub fn session(
    connection: &mut Connection,
    pid: u32,
    wanted: Option<u32>,
    fits: impl Fn(&Record) -> bool,
    none: &str,
) -> Result<u32, Failure> {
    if let Some(session) = wanted {
        return Ok(session);
    }
    let status = connection.request(&Request::Status).map_err(refusal)?;
    let sessions = status.iter().filter(|record| fits(record)).filter_map(|record| record.number("session"));
    match *sessions.collect::<Vec<u64>>() {
        [session] => u32::try_from(session)
            .map_err(|_| anyhow!("process {pid} has a session with the wrong number {session}").into()),
        [] => Err(Failure::new(exit::NO_PROBES, anyhow!("process {pid} {none}"))),
        ref sessions => Err(Failure::new(
            exit::USAGE,
            anyhow!("process {pid} has several such sessions: choose one of {sessions:?} with --session"),
        )),
    }
}

/// A number in the first record of an answer.
pub fn number(records: &[Record], name: &str) -> Result<u32, Failure> {
    let number = records.first().and_then(|record| record.number(name)).and_then(|number| number.try_into().ok());
    number.ok_or_else(|| anyhow!("the answer of the process has no {name}").into())
}
