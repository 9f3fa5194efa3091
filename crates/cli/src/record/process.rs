//! Requests to a process over its control socket.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use dyntrace::recorder::control::protocol::{Record, Request};
use dyntrace::recorder::control::{Connection, ControlError, Ender};
use dyntrace_terminal::exit::{self, Failure};
use dyntrace_terminal::signals::Interrupts;

use super::attach::attach;

/// How long a process may take to start or end a session: ending one may take it ten seconds. It may be stopped.
pub const PATIENCE: Duration = Duration::from_secs(15);
/// The most messages of an answer.
const PARTS: usize = 1024;

/// The first signal ends what the connection was asked for; the second one does not wait for the last counts.
pub fn end_by_signal(ender: Ender) -> anyhow::Result<()> {
    let interrupts = Interrupts::receive(2)?;
    thread::spawn(move || interrupts.wait_long().is_some().then(|| end(&ender)));
    Ok(())
}

/// Ends what the connection was asked for. A process that goes on nevertheless is not heard any more after [`PATIENCE`].
pub fn end(ender: &Ender) {
    ender.end();
    thread::sleep(PATIENCE);
    ender.give_up();
}

/// The next message; `None` if the process has ended.
pub fn hear(connection: &mut Connection) -> Result<Option<Vec<Record>>, Failure> {
    use io::ErrorKind::{ConnectionReset, UnexpectedEof};
    match connection.hear() {
        Ok(records) => Ok(Some(records)),
        Err(ControlError::System { error, .. }) if matches!(error.kind(), UnexpectedEof | ConnectionReset) => Ok(None),
        Err(error) => Err(refusal(error)),
    }
}

/// Connects to a process. If it has no control socket, it is asked to open one.
pub fn connect(pid: u32) -> Result<Connection, Failure> {
    match Connection::open(pid) {
        Err(ControlError::NoControl(_)) => attach(pid),
        other => other.map_err(refusal),
    }
}

/// Sends a request whose answer may come in several parts. `limit` is for all of them.
pub fn ask(connection: &mut Connection, request: &Request, limit: Duration) -> Result<Vec<Record>, ControlError> {
    let begun = Instant::now();
    let mut records = connection.request_within(request, limit)?;
    for _ in 1..PARTS {
        if records.last().and_then(|record| record.number("more")) != Some(1) {
            break;
        }
        records.pop();
        records.extend(connection.hear_within(limit.saturating_sub(begun.elapsed()))?);
    }
    Ok(records)
}

/// The failure if a process cannot be reached or refuses a request.
pub fn refusal(error: ControlError) -> Failure {
    let status = match error {
        ControlError::NoControl(_)
        | ControlError::NoProcess(_)
        | ControlError::Namesake { .. }
        | ControlError::Zombie(_) => exit::NO_PROBES,
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
    let status = connection.request_within(&Request::Status, PATIENCE).map_err(refusal)?;
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
