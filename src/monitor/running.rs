//! The monitor of the program: its handle and its thread.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::Thread;

use super::counts::{Counters, Counts};
use super::error::Error;
use super::event::Event;
use super::limits::Limits;
use super::owner::Ownership;

/// Called for each event.
pub(super) type OnEvent = dyn Fn(&Event) + Send + Sync;

/// The running monitor. Dropping it ends the monitor: no look begins after that, but a call of the function of
/// [`Builder::on_event`](super::Builder::on_event) that has begun goes on. A forgotten one runs as long as the program.
pub struct Monitor {
    shared: Arc<Shared>,
    thread: Thread,
    _place: Ownership,
}

struct Shared {
    is_ended: AtomicBool,
    counts: Counters,
    /// Of all monitors of the program.
    #[cfg_attr(not(recorded), allow(dead_code, reason = "there is no thread"))]
    of_program: Arc<Counters>,
    #[cfg_attr(not(recorded), allow(dead_code, reason = "there is no thread"))]
    on_event: Option<Box<OnEvent>>,
}

impl Monitor {
    /// Returns the counts since the start.
    pub fn counts(&self) -> Counts {
        self.shared.counts.read()
    }

    #[cfg(not(recorded))]
    pub(super) fn start(
        limits: Limits,
        _on_event: Option<Box<OnEvent>>,
        _at: Option<&'static Location<'static>>,
    ) -> Result<Monitor, Error> {
        use std::io;

        limits.check()?;
        let why = "the program is built without probes";
        Err(Error::Unsupported(io::Error::new(io::ErrorKind::Unsupported, why)))
    }

    #[cfg(recorded)]
    pub(super) fn start(
        limits: Limits,
        on_event: Option<Box<OnEvent>>,
        at: Option<&'static Location<'static>>,
    ) -> Result<Monitor, Error> {
        use std::thread;

        use dyntrace_probes::thread_progress::os::without_signals;

        use super::watch::Watch;

        limits.check()?;
        let place = Ownership::take(at).map_err(Error::Running)?;
        let mut watch = Watch::new(&limits)?;
        let shared = Arc::new(Shared {
            is_ended: AtomicBool::new(false),
            counts: Counters::default(),
            of_program: Arc::clone(&place.counts),
            on_event,
        });
        let own = Arc::clone(&shared);
        let run = move || {
            while !own.is_ended.load(Relaxed) {
                for found in watch.look() {
                    own.tell(found, limits.snapshot);
                }
                thread::park_timeout(watch.pause());
            }
        };
        let thread = without_signals(|| thread::Builder::new().name("dyntrace-monitor".into()).spawn(run));
        let thread = thread.map_err(Error::Thread)?.thread().clone();
        Ok(Monitor { shared, thread, _place: place })
    }
}

#[cfg(recorded)]
impl Shared {
    fn tell(&self, found: super::condition::LookEvents, snapshot: bool) {
        use dyntrace_probes::contain::contain;

        for counts in [&self.counts, &*self.of_program] {
            counts.found(found.kind, found.events.len() as u64, found.left_out);
        }
        for event in &found.events {
            if self.is_ended.load(Relaxed) {
                return;
            }
            super::tell::tell(event, snapshot);
            if let Some(on_event) = &self.on_event
                // The function is not called again with values of this call.
                && contain(|| on_event(event)).is_none()
            {
                [&self.counts, &*self.of_program].into_iter().for_each(Counters::panicked);
            }
        }
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        // Without waiting for the thread: it may be this one, or call a function that waits for this one.
        self.shared.is_ended.store(true, Relaxed);
        self.thread.unpark();
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor").field("counts", &self.counts()).finish_non_exhaustive()
    }
}
