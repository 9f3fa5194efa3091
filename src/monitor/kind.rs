//! Kinds of events.

use std::fmt;

/// A kind of event, by the names of Erlang's `system_monitor` where that has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A poll of a task lasts.
    LongSchedule,
    /// A task waits for a resource, a timer or a named future.
    LongWait,
    /// A mailbox has many messages.
    LongMessageQueue,
    /// Many jobs of a port of the pool of I/O threads have not started.
    BusyPort,
    /// Many closures of `spawn_blocking` wait for a thread.
    LongBlockingQueue,
    /// The table of tasks has many.
    TooManyTasks,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 6] = [
        Kind::LongSchedule,
        Kind::LongWait,
        Kind::LongMessageQueue,
        Kind::BusyPort,
        Kind::LongBlockingQueue,
        Kind::TooManyTasks,
    ];

    /// Its name, as in `DYNTRACE`: `long_schedule`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::LongSchedule => "long_schedule",
            Kind::LongWait => "long_wait",
            Kind::LongMessageQueue => "long_message_queue",
            Kind::BusyPort => "busy_port",
            Kind::LongBlockingQueue => "long_blocking_queue",
            Kind::TooManyTasks => "too_many_tasks",
        }
    }

    /// Whether its limit is a time. Limits and amounts are nanoseconds then.
    pub fn is_time(self) -> bool {
        matches!(self, Kind::LongSchedule | Kind::LongWait)
    }

    /// Whether it reads the table of tasks.
    #[cfg(recorded)]
    pub(super) fn reads_table(self) -> bool {
        matches!(self, Kind::LongSchedule | Kind::LongWait | Kind::TooManyTasks)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
