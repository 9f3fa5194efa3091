//! Looks at conditions, each at its own interval.

use std::time::{Duration, Instant};

use super::error::Error;
use super::event::Event;
use super::kind::Kind;
use super::kinds;
use super::limits::Limits;
use crate::clock;
use crate::host;
use crate::recorder::tasks;

/// The most events of one look.
const MOST: usize = 100;

/// A condition that is looked at.
pub(super) trait Condition: Send {
    /// The interval of looks.
    fn period(&self) -> Duration;
    /// Adds an event for each subject that has crossed the limit since the last look.
    fn look(&mut self, found: &mut Found);
}

/// The events of one look.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) kind: Kind,
    pub(super) limit: u64,
    pub(super) events: Vec<Event>,
    /// How many there are beyond [`MOST`].
    pub(super) left_out: u64,
}

impl Found {
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

/// Conditions, and when each is due.
pub(super) struct Watch {
    conditions: Vec<Due>,
}

struct Due {
    kind: Kind,
    limit: u64,
    condition: Box<dyn Condition>,
    at: Instant,
}

impl Watch {
    /// Prepares to look at these limits, which are valid: keeps a table of tasks if a kind needs it.
    pub(super) fn new(limits: &Limits) -> Result<Watch, Error> {
        if host::is_guest() {
            return Err(Error::Unsupported(host::refused("a monitor", "start it in the program")));
        }
        clock::prepare_once();
        if limits.iter().any(|(kind, _)| kind.reads_table()) {
            tasks().map_err(Error::Tasks)?;
        }
        let now = Instant::now();
        let due = |(kind, limit)| Due { kind, limit, condition: kinds::condition(kind, limit), at: now };
        Ok(Watch { conditions: limits.iter().map(due).collect() })
    }

    /// Looks at the conditions that are due.
    pub(super) fn look(&mut self) -> Vec<Found> {
        let mut all = Vec::new();
        for due in &mut self.conditions {
            if due.at > Instant::now() {
                continue;
            }
            let mut found = Found { kind: due.kind, limit: due.limit, events: Vec::new(), left_out: 0 };
            due.condition.look(&mut found);
            // Missed looks are not made up for.
            due.at = Instant::now() + due.condition.period();
            if !found.events.is_empty() {
                all.push(found);
            }
        }
        all
    }

    /// How long until the next look.
    pub(super) fn pause(&self) -> Duration {
        let next = self.conditions.iter().map(|due| due.at).min();
        next.map_or(Duration::MAX, |next| next.saturating_duration_since(Instant::now()))
    }
}
