//! Starts a monitor.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use super::error::Error;
use super::event::Event;
use super::kind::Kind;
use super::limits::Limits;
use super::running::{Monitor, OnEvent};

/// The limits of a monitor, and what happens at an event. Without limits it does not start.
#[derive(Default)]
pub struct Builder {
    limits: Limits,
    on_event: Option<Box<OnEvent>>,
}

impl Builder {
    /// Returns a builder without limits.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Tells of polls that last longer. From 1 ms to 24 h.
    pub fn long_schedule(self, limit: Duration) -> Builder {
        self.time(Kind::LongSchedule, limit)
    }

    /// Tells of waits that last longer. From 1 ms to 24 h.
    pub fn long_wait(self, limit: Duration) -> Builder {
        self.time(Kind::LongWait, limit)
    }

    /// Tells of mailboxes with more messages.
    pub fn long_message_queue(self, limit: usize) -> Builder {
        self.number(Kind::LongMessageQueue, limit)
    }

    /// Tells of ports of the pool of I/O threads for which more jobs have not started.
    pub fn busy_port(self, limit: usize) -> Builder {
        self.number(Kind::BusyPort, limit)
    }

    /// Tells when more closures of [`spawn_blocking`](crate::spawn_blocking) wait for a thread.
    pub fn long_blocking_queue(self, limit: usize) -> Builder {
        self.number(Kind::LongBlockingQueue, limit)
    }

    /// Tells when the table of tasks has more.
    pub fn too_many_tasks(self, limit: usize) -> Builder {
        self.number(Kind::TooManyTasks, limit)
    }

    /// Has each flight recorder take a snapshot at an event, within the limits of its [`Triggers`](crate::recorder::Triggers).
    pub fn snapshot(mut self, snapshot: bool) -> Builder {
        self.limits.snapshot = snapshot;
        self
    }

    /// Calls `on_event` for each event, on the thread of the monitor, which does not look meanwhile. It may end the monitor. A panic in it
    /// is caught and [counted](super::Counts::panics).
    pub fn on_event(mut self, on_event: impl Fn(&Event) + Send + Sync + 'static) -> Builder {
        self.on_event = Some(Box::new(on_event));
        self
    }

    fn time(mut self, kind: Kind, limit: Duration) -> Builder {
        self.limits.set(kind, u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
        self
    }

    fn number(mut self, kind: Kind, limit: usize) -> Builder {
        self.limits.set(kind, limit as u64);
        self
    }

    /// Starts the monitor: its thread, and the table of tasks if a kind needs it.
    ///
    /// # Errors
    ///
    /// [`Error`] if a limit is out of range or there is none, the program has a monitor, the table or the thread cannot be had, the program
    /// is built without probes, or this is a loaded module.
    #[track_caller]
    pub fn start(self) -> Result<Monitor, Error> {
        Monitor::start(self.limits, self.on_event, Some(Location::caller()))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Builder { limits, on_event } = self;
        f.debug_struct("Builder").field("limits", limits).field("on_event", &on_event.is_some()).finish()
    }
}
