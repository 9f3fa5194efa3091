//! Losses: dropped events and damaged places.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::packet::Checksum;

/// Files that count dropped events without a ring, and the reason.
const COUNTED: [(&str, &str); 2] =
    [("ringless", "no ring was ready for a thread"), ("above-rate", "their rate exceeded the limit")];

/// Lost events and damage, returned by [`Trace::losses`](crate::Trace::losses).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Losses {
    /// Events that full rings dropped, and events without a ring.
    pub discarded: Vec<Discarded>,
    /// Losses that the recorder reported.
    pub lost: Vec<Lost>,
    /// Packets of circular files that were overwritten before a [`Follower`](crate::Follower) read them.
    pub overwritten: Vec<Overwritten>,
    /// Damaged places. Events in skipped bytes are missing.
    pub damaged: Vec<Damage>,
    /// Traces without an event.
    pub empty: Vec<Empty>,
}

/// Events that a full ring dropped, or that had no ring.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Discarded {
    /// The file of the ring, or the file that counts events without a ring.
    pub file: PathBuf,
    /// Number of events.
    pub count: u64,
}

impl Discarded {
    /// Returns the reason for which they were dropped.
    pub fn reason(&self) -> &'static str {
        let of_file = COUNTED.iter().find(|(name, _)| self.file.file_name().is_some_and(|file| file == *name));
        of_file.map_or("the ring was full", |(_, why)| why)
    }
}

/// A loss that the recorder reported by a `recorder:lost` event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// The file of that event.
    pub file: PathBuf,
    /// The reason.
    pub reason: String,
    /// Number of lost events.
    pub count: u64,
}

/// Packets of a circular file that were overwritten before they were read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overwritten {
    /// The file.
    pub file: PathBuf,
    /// Number of packets, of 32 KiB each. Of the first of them, events may have been read.
    pub packets: u64,
}

/// A trace of whose processes none has an event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Empty {
    /// Its folder, as the caller named it.
    pub path: PathBuf,
    /// Whether each of its recordings was ended: then no event is missing. Of others, files may be gone.
    pub is_ended: bool,
}

/// A damaged place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// The offset in it, in bytes.
    pub offset: u64,
    /// Number of bytes skipped from there. If it is 0, the reason names what is missing, if anything.
    pub bytes: u64,
    /// The problem.
    pub reason: String,
}

impl Losses {
    /// Whether there is neither loss nor damage.
    pub fn is_empty(&self) -> bool {
        self.discarded.is_empty()
            && self.lost.is_empty()
            && self.overwritten.is_empty()
            && self.damaged.is_empty()
            && !self.are_unknown()
    }

    /// Whether it is not known if events are missing: a trace without an event was not ended.
    pub fn are_unknown(&self) -> bool {
        self.empty.iter().any(|trace| !trace.is_ended)
    }

    /// Returns the number of lost events, without those in overwritten packets and damaged places: their number is unknown.
    pub fn events(&self) -> u64 {
        let discarded = self.discarded.iter().map(|ring| ring.count);
        discarded.chain(self.lost.iter().map(|lost| lost.count)).fold(0, u64::saturating_add)
    }
}

/// The number of entries of each kind kept for a file, which may be damaged everywhere.
const KEPT: usize = 16;

/// Losses and damage found in one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    pub(crate) discarded: u64,
    damaged: Vec<(u64, u64, String)>,
    /// Damaged places that are not kept: offset of the first, number of places, sum of skipped bytes.
    more: Option<(u64, u64, u64)>,
    lost: BTreeMap<String, u64>,
    /// Number of packets that were overwritten before they were read.
    pub(crate) overwritten: u64,
    /// Whether the file was read to its end.
    pub(crate) is_read: bool,
    /// Whether it has neither events nor discarded ones.
    pub(crate) is_unused: bool,
    /// The checksum word of its last packet; `None` without any packet.
    pub(crate) last: Option<Checksum>,
    /// The ring number of its packets, if they have one.
    pub(crate) ring: Option<u64>,
    /// Whether it contains the recorder's last event.
    pub(crate) has_end: bool,
}

impl Findings {
    pub(crate) fn damage(&mut self, offset: u64, bytes: u64, reason: impl Into<String>) {
        if self.damaged.len() < KEPT {
            self.damaged.push((offset, bytes, reason.into()));
        } else {
            let (_, places, skipped) = self.more.get_or_insert((offset, 0, 0));
            *places += 1;
            *skipped += bytes;
        }
    }

    pub(crate) fn lost(&mut self, count: u64, reason: &[u8]) {
        let mut reason = String::from_utf8_lossy(reason).into_owned();
        if self.lost.len() >= KEPT && !self.lost.contains_key(&reason) {
            reason = "other reasons".to_owned();
        }
        let sum = self.lost.entry(reason).or_default();
        *sum = sum.saturating_add(count);
    }

    /// Adds the findings of `file` to `losses`. `origin` returns the offset in it of a damaged place.
    pub(crate) fn add_to(&self, losses: &mut Losses, file: &Path, origin: impl Fn(u64) -> u64) {
        let file = || file.to_owned();
        if self.discarded > 0 {
            losses.discarded.push(Discarded { file: file(), count: self.discarded });
        }
        losses.lost.extend(self.lost.iter().map(|(reason, count)| Lost {
            file: file(),
            reason: reason.clone(),
            count: *count,
        }));
        losses.damaged.extend(self.damaged.iter().map(|(offset, bytes, reason)| Damage {
            file: file(),
            offset: origin(*offset),
            bytes: *bytes,
            reason: reason.clone(),
        }));
        losses.damaged.extend(self.more.map(|(offset, places, bytes)| Damage {
            file: file(),
            offset: origin(offset),
            bytes,
            reason: format!("{places} more damaged places from here on"),
        }));
    }
}
