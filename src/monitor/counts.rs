//! Counts of events.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::kind::Kind;

/// Counts of a monitor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    of: [u64; Kind::ALL.len()],
    left_out: u64,
    panics: u64,
}

impl Counts {
    /// Crossings of the limit of this kind, also those that no event told.
    pub fn of(&self, kind: Kind) -> u64 {
        self.of[kind as usize]
    }

    /// Crossings that no event told: one look found more than 100.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Panics of the function of [`Builder::on_event`](super::Builder::on_event).
    pub fn panics(&self) -> u64 {
        self.panics
    }
}

/// The counters, which the thread of the monitor changes. They need no order.
#[derive(Debug, Default)]
pub(super) struct Counters {
    of: [AtomicU64; Kind::ALL.len()],
    left_out: AtomicU64,
    panics: AtomicU64,
}

impl Counters {
    pub(super) fn read(&self) -> Counts {
        let of = self.of.each_ref().map(|count| count.load(Relaxed));
        Counts { of, left_out: self.left_out.load(Relaxed), panics: self.panics.load(Relaxed) }
    }

    #[cfg(recorded)]
    pub(super) fn found(&self, kind: Kind, told: u64, left_out: u64) {
        self.of[kind as usize].fetch_add(told + left_out, Relaxed);
        self.left_out.fetch_add(left_out, Relaxed);
    }

    #[cfg(recorded)]
    pub(super) fn panicked(&self) {
        self.panics.fetch_add(1, Relaxed);
    }
}
