//! `long_blocking_queue` and `too_many_tasks`: a number of the program is too large.

use std::time::Duration;

use crate::monitor::condition::{Condition, LookEvents, OF_NUMBERS};
use crate::monitor::crossing::Above;
use dyntrace_processes::process::waiting_closures;
use dyntrace_processes::task_table::monitor_view;

pub(super) struct TooMany {
    above: Above<()>,
    number: fn() -> u64,
}

impl TooMany {
    /// Closures of `spawn_blocking` that wait for a thread.
    pub(super) fn waiting_closures() -> TooMany {
        TooMany { above: Above::new(), number: || waiting_closures().into() }
    }

    /// Tasks in the table of tasks.
    pub(super) fn tasks() -> TooMany {
        TooMany { above: Above::new(), number: || monitor_view::tasks() as u64 }
    }
}

impl Condition for TooMany {
    fn period(&self) -> Duration {
        OF_NUMBERS
    }

    fn look(&mut self, found: &mut LookEvents) {
        let many = Some((self.number)()).filter(|number| *number > found.limit);
        self.above.update(many, |_| ()).into_iter().for_each(|number| found.add(number, |_| ()));
    }
}
