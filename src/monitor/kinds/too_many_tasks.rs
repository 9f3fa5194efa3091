//! `too_many_tasks`: the table of tasks has many.

use std::time::Duration;

use crate::monitor::condition::{Condition, Found, OF_NUMBERS};
use crate::monitor::crossing::Above;
use dyntrace_processes::task_table::seen;

pub(super) struct TooManyTasks {
    above: Above<()>,
}

impl TooManyTasks {
    pub(super) fn new() -> TooManyTasks {
        TooManyTasks { above: Above::new() }
    }
}

impl Condition for TooManyTasks {
    fn period(&self) -> Duration {
        OF_NUMBERS
    }

    fn look(&mut self, found: &mut Found) {
        let many = Some(seen::tasks() as u64).filter(|tasks| *tasks > found.limit);
        self.above.update(many, |_| ()).into_iter().for_each(|tasks| found.add(tasks, |_| ()));
    }
}
