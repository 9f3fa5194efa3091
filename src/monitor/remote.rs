//! Monitors for other processes, over the recorder's [control socket](mod@crate::recorder::control). `dyntrace monitor -p PID` uses them.
//!
//! The record of the request `monitor RECORD` has `limits`, as in `DYNTRACE`. The answer has no records. From then on the process sends a
//! message of one record for each event: `told=event`, `kind`, `time` (nanoseconds since 1970), `amount`, `limit`, `text` (the event as one
//! line), and of its fields those that apply: `process`, `function`, `spawned`, `tag`, `operation`, `resource`, `place`, `port`, `thread`,
//! `thread_name`, `state`, `system_call`, `kernel_function`. When the client closes its side of the connection, the last message has
//! `told=end`, a count by the name of each kind, `left_out` and `panics`. A client that does not read for five seconds ends its monitor.

use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dyntrace_probes::thread_progress::os::without_signals;

use super::counts::{Counters, Counts};
use super::event::Event;
use super::kind::Kind;
use super::limits::Limits;
use super::owner::counts;
use super::tell::tell;
use super::watch::Watch;
use crate::recorder::control::clients::{ClientLimit, ClientPermit, ClosedInChildren, say, stays};
use crate::recorder::control::protocol::Record;
use crate::recorder::control::serve_monitors;

/// The most monitors of commands at once. More are refused.
const MOST: usize = 16;
/// How long a client may take to read a message.
const PATIENCE: Duration = Duration::from_secs(5);

static MONITORS: ClientLimit = ClientLimit::new(MOST);

/// Has this process serve monitors on request.
pub(super) fn enrol() {
    serve_monitors(serve, || counts().map(|counts| totals(&counts).with("monitor", "own")));
}

/// Serves a client on a thread of its own. The server's thread, which calls this, does not block.
fn serve(stream: UnixStream, asked: Record) {
    let Some(permit) = MONITORS.acquire() else {
        say(&stream, Err(format!("{MOST} monitors are running already: end one of them")));
        return;
    };
    // The thread may not begin.
    let own = stream.try_clone();
    let started = own.and_then(|own| {
        let thread = thread::Builder::new().name("dyntrace-monitor".into());
        without_signals(|| thread.spawn(move || monitor(&own, &asked, permit)))
    });
    if let Err(error) = started {
        say(&stream, Err(format!("cannot start the thread of the monitor: {error}")));
    }
}

fn monitor(stream: &UnixStream, asked: &Record, _permit: ClientPermit) {
    let _closed = ClosedInChildren::new(stream);
    let prepared = stream.set_nonblocking(false).and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
    if prepared.is_err() {
        return;
    }
    let limits = asked.get("limits").unwrap_or_default().parse::<Limits>().map_err(|error| error.to_string());
    let begun = limits.and_then(|limits| Ok((Watch::new(&limits).map_err(|error| error.to_string())?, limits)));
    let (mut watch, limits) = match begun {
        Ok(begun) => begun,
        Err(why) => {
            say(stream, Err(why));
            return;
        }
    };
    let counters = Counters::default();
    let mut hears = say(stream, Ok(Vec::new()));
    while hears {
        for found in watch.look() {
            counters.found(found.kind, found.events.len() as u64, found.left_out);
            for event in &found.events {
                tell(event, limits.snapshot);
                hears = hears && say(stream, Ok(vec![record(event)]));
            }
        }
        if hears && !stays(stream, watch.pause()) {
            break;
        }
    }
    say(stream, Ok(vec![totals(&counters.read()).with("told", "end")]));
}

/// A count by the name of each kind, and the others.
fn totals(counts: &Counts) -> Record {
    let others = Record::default().with("left_out", counts.left_out()).with("panics", counts.panics());
    Kind::ALL.into_iter().fold(others, |record, kind| record.with(kind.name(), counts.of(kind)))
}

fn record(event: &Event) -> Record {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let place = |place: Option<&'static std::panic::Location<'static>>| {
        place.map(|place| format!("{}:{}", place.file(), place.line()))
    };
    let thread = event.thread.as_ref();
    let fields = [
        ("process", event.process.map(|process| process.to_string())),
        ("function", event.function.map(str::to_owned)),
        ("spawned", place(event.spawned)),
        ("tag", event.tag.clone()),
        ("operation", event.operation.map(str::to_owned)),
        ("resource", event.resource.clone()),
        ("place", place(event.place)),
        ("port", event.port.map(|port| port.to_string())),
        ("thread", thread.map(|thread| thread.id.to_string())),
        ("thread_name", thread.map(|thread| thread.name.clone())),
        ("state", thread.and_then(|thread| thread.state).map(String::from)),
        ("system_call", thread.and_then(|thread| thread.system_call.clone())),
        ("kernel_function", thread.and_then(|thread| thread.kernel_function.clone())),
    ];
    let first = Record::default()
        .with("told", "event")
        .with("kind", event.kind)
        .with("time", time)
        .with("amount", event.amount)
        .with("limit", event.limit)
        .with("text", event);
    let known = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
    known.fold(first, |record, (name, value)| record.with(name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_a_record_without_what_is_not_known() {
        let event = Event {
            process: Some(dyntrace_processes::process::Pid::numbered(3)),
            ..Event::new(Kind::LongMessageQueue, 7, 5)
        };
        let record = record(&event);
        let (kind, process) = (record.get("kind"), record.get("process"));
        assert_eq!((kind, process, record.number("amount")), (Some("long_message_queue"), Some("<0.3.0>"), Some(7)));
        assert_eq!((record.number("limit"), record.get("thread"), record.get("tag")), (Some(5), None, None));
        assert!(record.number("time").is_some() && record.get("text").is_some());
    }
}
