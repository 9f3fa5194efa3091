//! Requests that rooms above the recorder serve over its control socket.
//!
//! A room sets its handler, and gets each connection that asks for it: tracing before `main` if the program has traced functions, code when
//! the program allows loading it, the monitor before `main`. A program without traced functions or code links neither room.

use std::os::unix::net::UnixStream;
use std::sync::OnceLock;

use super::protocol::{Record, Request};

/// Takes over a connection, with the request's record. Called on the server's thread: must not block.
pub(crate) type Handler = fn(UnixStream, Record);

/// Returns the counts of the program's monitors, if it has had any.
type Counts = fn() -> Option<Record>;

static TRACES: OnceLock<Handler> = OnceLock::new();
static CODE: OnceLock<Handler> = OnceLock::new();
static MONITORS: OnceLock<(Handler, Counts)> = OnceLock::new();

/// Sets the handler of connections that ask for a trace. Only the first call counts.
pub(crate) fn serve_traces(handler: Handler) {
    let _ = TRACES.set(handler);
}

/// Sets the handler of connections that ask for modules of code. Only the first call counts.
pub(crate) fn serve_code(handler: Handler) {
    let _ = CODE.set(handler);
}

/// Sets the handler of connections that ask for a monitor, and the source of counts. Only the first call counts.
#[cfg(recorded)]
pub(crate) fn serve_monitors(handler: Handler, counts: Counts) {
    let _ = MONITORS.set((handler, counts));
}

/// The counts of the program's monitors, if it has had any.
pub(super) fn counts_of_monitors() -> Option<Record> {
    MONITORS.get().and_then(|(_, counts)| counts())
}

/// The handler of a request, and its record; `None` if the recorder has to answer.
pub(super) fn handler(request: &Request) -> Option<(Handler, Record)> {
    match request {
        Request::Trace(wish) => Some((*TRACES.get()?, wish.clone())),
        Request::Code(order) => Some((*CODE.get()?, order.clone())),
        Request::Monitor(limits) => Some((MONITORS.get()?.0, limits.clone())),
        _ => None,
    }
}
