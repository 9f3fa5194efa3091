//! The conditions of the kinds of events.

mod busy_port;
mod long_message_queue;
mod long_schedule;
mod long_wait;
mod too_many;

use super::condition::Condition;
use super::kind::Kind;

/// The condition of a kind.
pub(super) fn condition(kind: Kind, limit: u64) -> Box<dyn Condition> {
    match kind {
        Kind::LongSchedule => Box::new(long_schedule::LongSchedule::new(limit)),
        Kind::LongWait => Box::new(long_wait::LongWait::new(limit)),
        Kind::LongMessageQueue => Box::new(long_message_queue::LongMessageQueue::new()),
        Kind::BusyPort => Box::new(busy_port::BusyPort::new()),
        Kind::LongBlockingQueue => Box::new(too_many::TooMany::waiting_closures()),
        Kind::TooManyTasks => Box::new(too_many::TooMany::tasks()),
    }
}
