//! The conditions: one file for each kind of event.

mod busy_port;
mod long_blocking_queue;
mod long_message_queue;
mod long_schedule;
mod long_wait;
mod too_many_tasks;

use std::time::Duration;

use super::kind::Kind;
use super::watch::Condition;

/// The interval at which numbers are looked at.
const OF_NUMBERS: Duration = Duration::from_millis(50);

/// The condition of a kind.
pub(super) fn condition(kind: Kind, limit: u64) -> Box<dyn Condition> {
    match kind {
        Kind::LongSchedule => Box::new(long_schedule::LongSchedule::new(limit)),
        Kind::LongWait => Box::new(long_wait::LongWait::new(limit)),
        Kind::LongMessageQueue => Box::new(long_message_queue::LongMessageQueue::new()),
        Kind::BusyPort => Box::new(busy_port::BusyPort::new()),
        Kind::LongBlockingQueue => Box::new(long_blocking_queue::LongBlockingQueue::new()),
        Kind::TooManyTasks => Box::new(too_many_tasks::TooManyTasks::new()),
    }
}

/// A quarter of a limit in nanoseconds, within bounds.
fn quarter(limit: u64, shortest: Duration) -> Duration {
    Duration::from_nanos(limit / 4).clamp(shortest, Duration::from_secs(1))
}
