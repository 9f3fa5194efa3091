//! `busy_port`: ports for which many jobs wait.

use std::time::Duration;

use crate::monitor::condition::{Condition, LookEvents, OF_NUMBERS};
use crate::monitor::crossing::Above;
use dyntrace_files::aio_pool::{Port, longer_than};

pub(super) struct BusyPort {
    above: Above<Port>,
}

impl BusyPort {
    pub(super) fn new() -> BusyPort {
        BusyPort { above: Above::new() }
    }
}

impl Condition for BusyPort {
    fn period(&self) -> Duration {
        OF_NUMBERS
    }

    fn look(&mut self, found: &mut LookEvents) {
        let limit = usize::try_from(found.limit).unwrap_or(usize::MAX);
        for (port, jobs) in self.above.update(longer_than(limit), |(port, _)| *port) {
            found.add(jobs as u64, |event| event.port = Some(port));
        }
    }
}
