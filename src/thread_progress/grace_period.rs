//! One grace period: from a barrier in every thread until none is inside of a pin that was there at the barrier.

use std::fmt;
use std::hint::spin_loop;
use std::time::{Duration, Instant};

use super::record::{Record, Word};
use super::{REGISTRY, barrier, is_pinned, os, prepare};

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

/// Who holds up a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Late {
    /// Those that were pinned all the time, until they were looked at last. None, if the system refuses the barrier that it promised.
    pub(crate) threads: Vec<Pinned>,
    /// How long they have been waited for; they have been pinned at least as long.
    pub(crate) waited: Duration,
}

/// The same, before anybody has asked for names: that takes a while.
pub(super) struct Held {
    threads: Vec<u32>,
    waited: Duration,
}

impl Late {
    /// The current thread is pinned and would wait for itself.
    pub(super) fn own() -> Late {
        Held { threads: vec![os::thread_id()], waited: Duration::ZERO }.named()
    }
}

impl Held {
    pub(super) fn named(self) -> Late {
        let pinned = |thread| Pinned { thread, name: os::thread_name(thread) };
        Late { threads: self.threads.into_iter().map(pinned).collect(), waited: self.waited }
    }
}

/// A thread, by the operating system's id, and the name that it has there; empty where that cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pinned {
    pub(crate) thread: u32,
    pub(crate) name: String,
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

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.waited.as_secs_f64();
        if self.threads.is_empty() {
            return write!(f, "the system has refused a barrier in every thread for {seconds:.3} s");
        }
        f.write_str("still inside: ")?;
        for pinned in &self.threads {
            write!(f, "{pinned}, ")?;
        }
        write!(f, "for {seconds:.3} s or longer")
    }
}

impl fmt::Display for Pinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pinned { thread, name } = self;
        if name.is_empty() { write!(f, "thread {thread}") } else { write!(f, "thread {thread} ({name})") }
    }
}
