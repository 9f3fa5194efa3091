//! Conditions, and the events that a look at one finds.

use std::time::Duration;

use super::event::Event;
use super::kind::Kind;

/// The most events of one look.
const MOST: usize = 100;

/// The interval at which numbers are looked at.
pub(super) const OF_NUMBERS: Duration = Duration::from_millis(50);

/// A condition that is looked at.
pub(super) trait Condition: Send {
    /// The interval of looks.
    fn period(&self) -> Duration;
    /// Adds an event for each subject that has crossed the limit since the last look.
    fn look(&mut self, found: &mut LookEvents);
}

/// The events of one look.
#[derive(Debug)]
pub(super) struct LookEvents {
    pub(super) kind: Kind,
    pub(super) limit: u64,
    pub(super) events: Vec<Event>,
    /// How many there are beyond [`MOST`].
    pub(super) left_out: u64,
}

impl LookEvents {
    pub(super) fn new(kind: Kind, limit: u64) -> LookEvents {
        LookEvents { kind, limit, events: Vec::new(), left_out: 0 }
    }

    /// Adds an event, which `complete` completes.
    pub(super) fn add(&mut self, amount: u64, complete: impl FnOnce(&mut Event)) {
        if self.events.len() == MOST {
            self.left_out += 1;
            return;
        }
        let mut event = Event::new(self.kind, amount, self.limit);
        complete(&mut event);
        self.events.push(event);
    }
}

/// A quarter of a limit in nanoseconds, within bounds.
pub(super) fn quarter(limit: u64, shortest: Duration) -> Duration {
    Duration::from_nanos(limit / 4).clamp(shortest, Duration::from_secs(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_beyond_the_most_are_counted() {
        let mut found = LookEvents::new(Kind::LongWait, 5);
        (0..MOST as u64 + 7).for_each(|amount| found.add(amount, |_| ()));
        assert_eq!((found.events.len(), found.left_out), (MOST, 7));
    }

    #[test]
    fn looks_are_neither_too_frequent_nor_too_rare() {
        let millisecond = Duration::from_millis(1);
        for (limit, period) in [(1_000_000, 1_000_000), (100_000_000, 25_000_000), (60_000_000_000, 1_000_000_000)] {
            assert_eq!(quarter(limit, millisecond), Duration::from_nanos(period));
        }
    }
}
