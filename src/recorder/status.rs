//! What sessions tell of themselves.

use std::path::PathBuf;

use super::error::Error;
use super::options::Options;

/// What a session has done until now.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Status {
    /// The folder of the trace.
    pub directory: PathBuf,
    /// The folder of this process in it.
    pub folder: PathBuf,
    /// What it records.
    pub options: Options,
    /// How many rings were used: of so many threads at once.
    pub rings: usize,
    /// How many bytes were recorded, those that a circle has overwritten among them.
    pub bytes: u64,
    /// How many events were lost for want of room.
    pub discarded: u64,
    /// The snapshots that its triggers had it take, and [`trigger`](super::trigger): folders of traces.
    pub snapshots: Vec<PathBuf>,
    /// How many causes for snapshots got none: too many, too soon after another, or it could not be written.
    pub suppressed: u64,
}

/// What a snapshot holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The folder of this process in it.
    pub folder: PathBuf,
    /// Packets that were copied.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that threads took for new events before they were copied, and those before them.
    pub overwritten: u64,
}

/// What a session has done.
#[derive(Debug)]
#[non_exhaustive]
pub struct Summary {
    /// The last status.
    pub status: Status,
    /// What went wrong at the end; the trace can be read all the same.
    pub errors: Vec<Error>,
}
