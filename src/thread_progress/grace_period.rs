//! One grace period: from a barrier in every thread until none is inside of a pin that was there at the barrier.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

use super::fork::prepare;
use super::late::Held;
use super::os;
use super::pin::{REGISTRY, barrier, is_pinned};
use super::record::{Record, Word};

/// How often the words of pinned threads are read again at once: most pins last less than it takes to fall asleep.
const LOOKS: usize = if cfg!(any(loom, miri)) { 0 } else { 100 };

/// The shortest pause between later looks, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(10)];

/// A wait is worth a word that lasts as long as this. In models none: there is no time in them.
pub(crate) const NOTABLE: Duration = if cfg!(loom) { Duration::MAX } else { Duration::from_millis(1) };

pub(super) struct GracePeriod {
    begun: Instant,
    /// The pins that are waited for; `None` before the barrier of step 4.
    holders: Option<Vec<Holder>>,
}

struct Holder {
    record: &'static Record,
    seen: Word,
}

impl GracePeriod {
    /// Takes in every pin that lives now. What the caller changed before is what threads see that pin later.
    ///
    /// # Panics
    ///
    /// If the current thread is pinned: it would wait for itself.
    pub(super) fn begin() -> GracePeriod {
        assert!(!is_pinned(), "waiting for threads to unpin, while pinned");
        let mut period = GracePeriod { begun: Instant::now(), holders: None };
        period.try_barrier();
        for _ in 0..LOOKS {
            match &mut period.holders {
                Some(holders) if !holders.is_empty() => holders.retain(Holder::is_pinned), // 6
                _ => break,
            }
            spin_loop();
        }
        period
    }

    /// Looks again; true once all of them have unpinned. Never blocks.
    pub(super) fn is_over(&mut self) -> bool {
        match &mut self.holders {
            None => self.try_barrier(),
            Some(holders) => holders.retain(|holder| holder.is_pinned() && holder.is_there()), // 6
        }
        self.holders.as_ref().is_some_and(Vec::is_empty)
    }

    /// How long to do something else before the next look.
    pub(super) fn pause(&self) -> Duration {
        let [shortest, longest] = PAUSES;
        self.begun.elapsed().clamp(shortest, longest)
    }

    /// Who holds it up, once it has lasted as long as `patience`.
    pub(super) fn held(&self, patience: Duration) -> Option<Held> {
        let waited = self.begun.elapsed();
        let thread = |holder: &Holder| holder.record.owner().thread();
        (waited >= patience).then(|| Held { threads: self.holders.iter().flatten().map(thread).collect(), waited })
    }

    fn try_barrier(&mut self) {
        if prepare().is_ok() && barrier() {
            self.holders = Some(pinned().collect()); // 4, 5
        }
    }
}

/// Step 5.
fn pinned() -> impl Iterator<Item = Holder> {
    REGISTRY.records().map(|record| Holder { record, seen: record.word() }).filter(|holder| holder.seen.is_pinned())
}

impl Holder {
    fn is_pinned(&self) -> bool {
        !self.record.word().is_past(self.seen)
    }

    /// Whether its thread may yet unpin.
    fn is_there(&self) -> bool {
        let owner = self.record.owner();
        !owner.is_none() && !os::has_ended(owner.thread())
    }
}
