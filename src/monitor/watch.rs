//! Looks at conditions, each at its own interval.

use std::time::{Duration, Instant};

use dyntrace_probes::clock;
use dyntrace_probes::host;

use super::condition::{Condition, LookEvents};
use super::error::Error;
use super::kind::Kind;
use super::kinds;
use super::limits::Limits;
use crate::recorder::tasks;

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
    pub(super) fn look(&mut self) -> Vec<LookEvents> {
        let mut all = Vec::new();
        for due in &mut self.conditions {
            if due.at > Instant::now() {
                continue;
            }
            let mut found = LookEvents::new(due.kind, due.limit);
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
