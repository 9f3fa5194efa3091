//! What a process serves beside its recorder.
//!
//! The recorder does not know what stands on it. Whoever serves traces of functions says so here, before `main`, and is given
//! each connection that asks for one. A program without traced functions has nobody who says so, and links none of it.

use std::os::unix::net::UnixStream;
use std::sync::OnceLock;

use super::protocol::Record;

/// Is given a connection, which is its own from then on, and what was asked for. Called by the server's thread: it must not wait.
pub(crate) type Serve = fn(UnixStream, Record);

static TRACES: OnceLock<Serve> = OnceLock::new();

/// From now on `serve` gets the connections that ask for a trace. Only the first call counts.
pub(crate) fn serve_traces(serve: Serve) {
    let _ = TRACES.set(serve);
}

/// Who gets them.
pub(super) fn traces() -> Option<Serve> {
    TRACES.get().copied()
}
