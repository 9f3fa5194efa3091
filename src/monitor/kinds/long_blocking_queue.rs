//! `long_blocking_queue`: many closures of `spawn_blocking` wait for a thread.

use std::time::Duration;

use crate::monitor::condition::{Condition, Found, OF_NUMBERS};
use crate::monitor::crossing::Above;
use dyntrace_processes::process::waiting_closures;

pub(super) struct LongBlockingQueue {
    above: Above<()>,
}

impl LongBlockingQueue {
    pub(super) fn new() -> LongBlockingQueue {
        LongBlockingQueue { above: Above::new() }
    }
}

impl Condition for LongBlockingQueue {
    fn period(&self) -> Duration {
        OF_NUMBERS
    }

    fn look(&mut self, found: &mut Found) {
        let long = Some(u64::from(waiting_closures())).filter(|waiting| *waiting > found.limit);
        self.above.update(long, |_| ()).into_iter().for_each(|waiting| found.add(waiting, |_| ()));
    }
}
