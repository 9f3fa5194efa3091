//! `long_wait`: waits that last.

use std::collections::HashSet;
use std::time::Duration;

use dyntrace_probes::clock;

use crate::monitor::condition::{Condition, LookEvents, quarter};
use dyntrace_processes::process::Pid;
use dyntrace_processes::task_table::Operation;
use dyntrace_processes::task_table::monitor_view::{self, Wait, Waited};

/// A thread may be stopped between reading the clock for a wait and noting the wait in the table. A wait is found if that takes no longer.
const SLACK: Duration = Duration::from_secs(1);

/// Each look tells the waits that began up to the limit before now, its edge. Those that began long before the last edge were told; of the
/// others it knows which were. So it keeps nothing of most of the waits that last.
pub(super) struct LongWait {
    limit: u64,
    /// In cycles.
    edge: u64,
    /// The waits that began shortly before the edge, by pid and beginning. All were told.
    told: HashSet<(u64, u64)>,
}

impl LongWait {
    pub(super) fn new(limit: u64) -> LongWait {
        LongWait { limit, edge: 0, told: HashSet::new() }
    }
}

impl Condition for LongWait {
    fn period(&self) -> Duration {
        quarter(self.limit, Duration::from_millis(50))
    }

    fn look(&mut self, found: &mut LookEvents) {
        let now = clock::now();
        let slack = clock::cycles(SLACK);
        let edge = now.saturating_sub(clock::cycles(Duration::from_nanos(self.limit))).max(self.edge);
        let mut recent = HashSet::new();
        monitor_view::waits(&(self.edge.saturating_sub(slack)..=edge), |wait| {
            let key = (wait.pid(), wait.since());
            if wait.since() > edge.saturating_sub(slack) {
                recent.insert(key);
            }
            if !self.told.contains(&key) {
                tell(found, clock::took(now.saturating_sub(wait.since())), &wait);
            }
        });
        (self.edge, self.told) = (edge, recent);
    }
}

fn tell(found: &mut LookEvents, waited: Duration, wait: &Wait) {
    found.add(u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX), |event| {
        let about = wait.about();
        event.process = Some(Pid::numbered(wait.pid()));
        (event.function, event.spawned, event.tag) = (about.function, about.place, about.tag);
        (event.operation, event.place) = wait.site();
        event.resource = match wait.resource() {
            Waited::Numbered(number) => Some(format!("#Ref<0.{number}>")),
            Waited::Process(pid) => Some(format!("<0.{pid}.0>")),
            Waited::Operation(Operation { thread, tag }) => Some(format!("{{{thread},{tag}}}")),
            Waited::Named(name) => name.map(str::to_owned),
        };
    });
}
