//! Status and results of sessions.

use std::path::PathBuf;

use super::error::Error;
use super::options::Options;

/// The status of a session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Status {
    /// The folder of the trace.
    pub directory: PathBuf,
    /// The folder of this process in the trace.
    pub folder: PathBuf,
    /// The session's options.
    pub options: Options,
    /// Rings in use: the most threads that recorded at the same time.
    pub rings: usize,
    /// Bytes recorded, including those that circular files have overwritten.
    pub bytes: u64,
    /// Events lost for lack of room.
    pub discarded: u64,
    /// Snapshot folders written so far, for its triggers and for [`trigger`](super::trigger).
    pub snapshots: Vec<PathBuf>,
    /// Requests for snapshots that got none: too many, too soon after another, or a write error.
    pub suppressed: u64,
    /// Whether files that threads write were removed: then their events are lost, and not counted.
    pub is_removed: bool,
}

/// The contents of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The folder of this process in the trace.
    pub folder: PathBuf,
    /// Packets copied.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that threads overwrote before they were copied, and those before them.
    pub overwritten: u64,
}

/// The result of a session.
#[derive(Debug)]
#[non_exhaustive]
pub struct Summary {
    /// The last status.
    pub status: Status,
    /// Errors at the end of the session. The trace is still readable.
    pub errors: Vec<Error>,
}
