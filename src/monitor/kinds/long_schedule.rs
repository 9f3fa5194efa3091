//! `long_schedule`: polls that last.

use std::time::Duration;

use dyntrace_probes::clock;

use crate::monitor::condition::{Condition, LookEvents, quarter};
use crate::monitor::crossing::Above;
use crate::monitor::kernel;
use dyntrace_processes::process::Pid;
use dyntrace_processes::task_table::monitor_view::{self, Poll};

pub(super) struct LongSchedule {
    limit: u64,
    /// By thread and beginning.
    above: Above<(u32, u64)>,
}

impl LongSchedule {
    pub(super) fn new(limit: u64) -> LongSchedule {
        LongSchedule { limit, above: Above::new() }
    }
}

impl Condition for LongSchedule {
    fn period(&self) -> Duration {
        quarter(self.limit, Duration::from_millis(1))
    }

    fn look(&mut self, found: &mut LookEvents) {
        let now = clock::now();
        let lasted = |poll: &Poll| clock::took(now.saturating_sub(poll.since)).as_nanos() as u64;
        let long = monitor_view::polls().filter(|poll| lasted(poll) > self.limit);
        for poll in self.above.update(long, |poll| (poll.thread, poll.since)) {
            found.add(lasted(&poll), |event| {
                let about = poll.about();
                event.process = Some(Pid::numbered(poll.pid));
                (event.function, event.spawned, event.tag) = (about.function, about.place, about.tag);
                // Of another poll, if this one has ended.
                event.thread = Some(kernel::thread(poll.thread)).filter(|_| poll.lasts());
            });
        }
    }
}
