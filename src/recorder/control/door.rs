//! What a process serves beside its recorder.
//!
//! The recorder does not know what stands on it. Whoever serves something says so here, and is given each connection that asks for it:
//! who traces functions before `main`, who loads code when the program allows that. A program without either has nobody who says so,
//! and links none of it.

use std::os::unix::net::UnixStream;
use std::sync::OnceLock;

use super::protocol::{Record, Request};

/// Is given a connection, which is its own from then on, and what was asked for. Called by the server's thread: it must not wait.
pub(crate) type Serve = fn(UnixStream, Record);

static TRACES: OnceLock<Serve> = OnceLock::new();
static CODE: OnceLock<Serve> = OnceLock::new();

/// From now on `serve` gets the connections that ask for a trace. Only the first call counts.
pub(crate) fn serve_traces(serve: Serve) {
    let _ = TRACES.set(serve);
}

/// The same of those that ask for modules of code.
pub(crate) fn serve_code(serve: Serve) {
    let _ = CODE.set(serve);
}

/// Who gets a connection with such a request, and what is asked for; nobody, if the recorder has to answer.
pub(super) fn leaves(request: &Request) -> Option<(Serve, Record)> {
    match request {
        Request::Trace(wish) => Some((*TRACES.get()?, wish.clone())),
        Request::Code(order) => Some((*CODE.get()?, order.clone())),
        _ => None,
    }
}
