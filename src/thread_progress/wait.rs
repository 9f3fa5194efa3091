//! Waiting until what was pinned is not any more.

use std::time::{Duration, Instant};

use super::record::{Record, Word};
use super::{OWN, REGISTRY, barrier, os, prepare};
use crate::sync::pause;

/// The first pause between two looks, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(10)];

/// A wait under way, for a thread that has other things to do meanwhile.
pub(crate) struct Wait {
    begun: Instant,
    /// The pins that are waited for; `None` before the barrier of step 4.
    holders: Option<Vec<Holder>>,
}

struct Holder {
    record: &'static Record,
    seen: Word,
}

/// Who holds up a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Late {
    /// Operating system's ids of the threads that have been pinned all the time. None, if the system refuses the
    /// barrier that it promised.
    pub(crate) threads: Vec<u32>,
    /// How long they have been waited for; they have been pinned at least as long.
    pub(crate) waited: Duration,
}

impl Wait {
    /// Waits for every thread that is pinned now. What the caller changed before is what threads see that pin later.
    ///
    /// # Panics
    ///
    /// If the current thread is pinned: it would wait for itself.
    pub(crate) fn begin() -> Wait {
        let own = OWN.with(std::cell::Cell::get);
        assert!(!own.is_some_and(|own| own.word().is_pinned()), "waiting for threads to unpin, while pinned");
        let mut wait = Wait { begun: Instant::now(), holders: None };
        wait.look();
        wait
    }

    /// Looks again; true once all of them have unpinned. Never blocks.
    pub(crate) fn is_over(&mut self) -> bool {
        self.look();
        self.holders.as_ref().is_some_and(Vec::is_empty)
    }

    /// Who holds it up, once it has lasted as long as `patience`.
    pub(crate) fn late(&self, patience: Duration) -> Option<Late> {
        let waited = self.begun.elapsed();
        let threads = self.holders.iter().flatten().map(|holder| holder.record.owner().thread()).collect();
        (waited >= patience).then_some(Late { threads, waited })
    }

    fn look(&mut self) {
        match &mut self.holders {
            None if prepare().is_ok() && barrier() => self.holders = Some(pinned().collect()), // 4, 5
            None => {}
            Some(holders) => holders.retain(Holder::is_inside), // 6
        }
    }
}

/// Step 5.
fn pinned() -> impl Iterator<Item = Holder> {
    REGISTRY.records().map(|record| Holder { record, seen: record.word() }).filter(|holder| holder.seen.is_pinned())
}

impl Holder {
    /// Step 6.
    fn is_inside(&self) -> bool {
        let owner = self.record.owner();
        !self.record.word().is_past(self.seen) && !owner.is_none() && !os::has_ended(owner.thread())
    }
}

/// Waits for every thread that is pinned now, as long as `patience` at most: for threads that have nothing else to do.
///
/// # Errors
///
/// Who is still inside; what they read must stay.
///
/// # Panics
///
/// If the current thread is pinned.
pub(crate) fn wait_blocking(patience: Duration) -> Result<(), Late> {
    let mut wait = Wait::begin();
    let [mut next, longest] = PAUSES;
    while !wait.is_over() {
        if let Some(late) = wait.late(patience) {
            return Err(late);
        }
        pause(next);
        next = longest.min(next * 2);
    }
    Ok(())
}
