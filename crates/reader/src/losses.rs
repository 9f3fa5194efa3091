//! What a trace does not tell: dropped events, damaged places.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::packet::Checksum;

/// The files that count events which no ring counts, and why it does not.
const COUNTED: [(&str, &str); 2] = [
    ("ringless", "no ring was ready for a thread"),
    ("above-rate", "there were more of them in a second than was asked for"),
];

/// What was lost, by [`Trace::losses`](crate::Trace::losses).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Losses {
    /// How many events each ring dropped because it was full, and how many found no ring.
    pub discarded: Vec<Discarded>,
    /// What the recorder says it could not record.
    pub lost: Vec<Lost>,
    /// Damaged places. The events of the bytes that were passed over are missing.
    pub damaged: Vec<Damage>,
}

/// Events that a full ring dropped, or that found no ring.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Discarded {
    /// The file of the ring, or the one that counts events without a ring.
    pub file: PathBuf,
    /// How many.
    pub count: u64,
}

impl Discarded {
    /// Why they were dropped.
    pub fn reason(&self) -> &'static str {
        let of_file = COUNTED.iter().find(|(name, _)| self.file.file_name().is_some_and(|file| file == *name));
        of_file.map_or("the ring was full", |(_, why)| why)
    }
}

/// A loss that a `recorder:lost` event of the recorder tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// The file that says so.
    pub file: PathBuf,
    /// Why.
    pub reason: String,
    /// How many.
    pub count: u64,
}

/// A damaged place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// The place in it, in bytes.
    pub offset: u64,
    /// How many bytes from there on were passed over. With 0, the reason says what is missing, if anything is.
    pub bytes: u64,
    /// What is wrong there.
    pub reason: String,
}

impl Losses {
    /// Whether nothing was lost and nothing is damaged.
    pub fn is_empty(&self) -> bool {
        self.discarded.is_empty() && self.lost.is_empty() && self.damaged.is_empty()
    }

    /// How many events are known to be lost; what damage cost cannot be known.
    pub fn events(&self) -> u64 {
        let discarded = self.discarded.iter().map(|ring| ring.count);
        discarded.chain(self.lost.iter().map(|lost| lost.count)).fold(0, u64::saturating_add)
    }
}

/// How much of each kind is kept for one file: damage can be all over it.
const KEPT: usize = 16;

/// What has been found in one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) discarded: u64,
    damaged: Vec<(u64, u64, String)>,
    /// Damaged places that are not kept: where the first one is, how many, and how many bytes of them were passed over.
    more: Option<(u64, u64, u64)>,
    lost: BTreeMap<String, u64>,
    /// Whether the file was read to its end.
    pub(crate) is_read: bool,
    /// The checksum word of its last packet; `None` without any packet.
    pub(crate) last: Option<Checksum>,
    /// The ring that its packets are of, if they say so.
    pub(crate) ring: Option<u64>,
    /// Whether the recorder's last event is in it.
    pub(crate) has_end: bool,
}

impl Found {
    pub(crate) fn damage(&mut self, offset: u64, bytes: u64, reason: impl Into<String>) {
        if self.damaged.len() < KEPT {
            self.damaged.push((offset, bytes, reason.into()));
        } else {
            let (_, places, passed_over) = self.more.get_or_insert((offset, 0, 0));
            *places += 1;
            *passed_over += bytes;
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

    /// Adds what was found in `file`.
    pub(crate) fn add_to(&self, losses: &mut Losses, file: &std::path::Path) {
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
            offset: *offset,
            bytes: *bytes,
            reason: reason.clone(),
        }));
        losses.damaged.extend(self.more.map(|(offset, places, bytes)| Damage {
            file: file(),
            offset,
            bytes,
            reason: format!("{places} more damaged places from here on"),
        }));
    }
}
