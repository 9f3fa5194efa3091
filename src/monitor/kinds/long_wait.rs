//! `long_wait`: waits that last.

use std::time::Duration;

use super::quarter;
use crate::clock;
use crate::monitor::watch::{Condition, Found};
use crate::process::Pid;
use crate::task_table::seen::{self, Waited};

/// Each look tells the waits that have crossed the limit since the last one: those that began after the last look's edge, up to the limit
/// before now. So nothing has to be known of waits that were told.
pub(super) struct LongWait {
    limit: u64,
    /// Waits that began up to this cycle were told.
    edge: u64,
}

impl LongWait {
    pub(super) fn new(limit: u64) -> LongWait {
        LongWait { limit, edge: 0 }
    }
}

impl Condition for LongWait {
    fn period(&self) -> Duration {
        quarter(self.limit, Duration::from_millis(50))
    }

    fn look(&mut self, found: &mut Found) {
        let now = clock::now();
        let edge = now.saturating_sub(clock::cycles(Duration::from_nanos(self.limit)));
        if edge <= self.edge {
            return;
        }
        seen::waits(&(self.edge + 1..=edge), |wait| {
            found.add(clock::took(now - wait.since).as_nanos() as u64, |event| {
                event.process = Some(Pid::numbered(wait.pid));
                (event.function, event.spawned, event.tag) = (wait.about.function, wait.about.place, wait.about.tag);
                (event.operation, event.place) = (wait.kind, wait.place);
                event.resource = match wait.resource {
                    Waited::Numbered(number) => Some(format!("#Ref<0.{number}>")),
                    Waited::Named(name) => name.map(str::to_owned),
                };
            });
        });
        self.edge = edge;
    }
}
