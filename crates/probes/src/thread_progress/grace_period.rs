//! A grace period: from a barrier in every thread until all pins that lived at the barrier have ended.

use std::fmt;
use std::hint::spin_loop;
use std::time::{Duration, Instant};

use super::os;
use super::pin::{REGISTRY, is_pinned};
use super::pinned::Pinned;
use super::prepare::{barrier, prepare};
use super::record::{Record, Word};

/// How often a wait spins on the words of pinned threads before it sleeps: most pins end sooner than a thread falls asleep.
const LOOKS: usize = if cfg!(any(loom, miri)) { 0 } else { 100 };

/// The shortest and the longest pause between later looks.
const PAUSES: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(10)];

/// Waits of at least this length are reported. In models none is: there is no time in them.
pub const NOTABLE: Duration = if cfg!(loom) { Duration::MAX } else { Duration::from_millis(1) };

pub(super) struct GracePeriod {
    begun: Instant,
    /// The pins that it waits for; `None` before the barrier of step 4.
    holders: Option<Vec<Holder>>,
}

struct Holder {
    record: &'static Record,
    seen: Word,
}

/// The threads that delay a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Late {
    /// Threads that were pinned all the time until the last look. Empty if the system refuses the barrier that it promised.
    pub threads: Vec<Pinned>,
    /// How long the wait has lasted; the threads have been pinned at least as long.
    pub waited: Duration,
}

/// The same without names, which take time to look up.
pub(super) struct Held {
    threads: Vec<u32>,
    waited: Duration,
}

impl Late {
    /// For a current thread that is pinned and would wait for itself.
    pub(super) fn own() -> Late {
        Held { threads: vec![os::thread_id()], waited: Duration::ZERO }.named()
    }
}

impl Held {
    pub(super) fn named(self) -> Late {
        Late { threads: self.threads.into_iter().map(Pinned::new).collect(), waited: self.waited }
    }
}

impl GracePeriod {
    /// Begins a wait for every pin that lives now. Threads that pin later see the changes that the caller made before.
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

    /// Looks again. Returns true once all of them have unpinned. Never blocks.
    pub(super) fn is_over(&mut self) -> bool {
        match &mut self.holders {
            None => self.try_barrier(),
            Some(holders) => holders.retain(|holder| holder.is_pinned() && holder.is_there()), // 6
        }
        self.holders.as_ref().is_some_and(Vec::is_empty)
    }

    /// Returns the time until the next look.
    pub(super) fn pause(&self) -> Duration {
        let [shortest, longest] = PAUSES;
        self.begun.elapsed().clamp(shortest, longest)
    }

    /// Returns the threads that delay it, once it has lasted for `patience`.
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

    /// Returns whether its thread may still unpin.
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
