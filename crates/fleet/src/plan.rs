//! The plan of a range: all that a converter must know to write the same files as another one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::loss::{self, Loss};

/// Counted up when a range would get other rows, or other files, than before. A range is finished by a converter with its layout.
pub const LAYOUT: u32 = 2;

/// The plan of a range of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The [`LAYOUT`] of the converter that proposed it.
    pub layout: u32,
    /// The host of the source, for people: the metadata of the source has it, too.
    pub hostname: String,
    /// The program, for people.
    pub program: String,
    /// Its process id, for people.
    pub pid: u64,
    /// The clock by which the times of this range are converted: cycles per second, and the time of cycle 0 in seconds since 1970 and
    /// cycles. A recorder that goes on measures it better and better.
    pub frequency: u64,
    /// See `frequency`.
    pub offset_seconds: i64,
    /// See `frequency`.
    pub offset_cycles: u64,
    /// Whether the source ends with this range: its rows in flight are written, and nothing follows.
    pub is_last: bool,
    /// The time of the latest event of the source up to the end of this range, in nanoseconds since 1970.
    pub until: i64,
    /// Where the range ends in each file, by the file's name.
    pub ends: BTreeMap<String, u64>,
    /// All losses that are known up to the end of this range.
    pub losses: Vec<Loss>,
}

impl Plan {
    /// Returns the losses of this range, which follows the range of the plan `before`.
    pub fn new_losses(&self, before: Option<&Plan>) -> Vec<Loss> {
        loss::since(&self.losses, before.map_or(&[], |before| &before.losses))
    }
}
