//! The monitor: each kind of event, told once while it lasts, and again after it was over; and what may happen to a monitor.
#![cfg(all(not(dyntrace_without_probes), target_os = "linux", feature = "mailbox", feature = "recorder"))]

mod ends;
mod kinds;
mod polls;
mod program;
mod recorded;

use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use dyntrace::monitor::{Builder, Event, Monitor};
use tokio::runtime::{self, Runtime};

/// One test at a time, as a program has one monitor.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A monitor, and its events.
struct Watched {
    monitor: Monitor,
    events: Receiver<Event>,
    _alone: MutexGuard<'static, ()>,
}

impl Watched {
    fn by(builder: Builder) -> Watched {
        Watched::under(alone(), builder)
    }

    fn under(_alone: MutexGuard<'static, ()>, builder: Builder) -> Watched {
        let (sender, events) = mpsc::channel();
        // Its receiver may be gone at the end of the test.
        let monitor = builder.on_event(move |event| drop(sender.send(event.clone()))).start().unwrap();
        Watched { monitor, events, _alone }
    }

    /// Waits for the next event.
    fn next(&self) -> Event {
        self.events.recv().expect("the monitor lives")
    }

    /// Repeats: ends the condition and begins it, until the monitor has seen both.
    fn again(&self, mut cross: impl FnMut()) -> Event {
        loop {
            cross();
            // The monitor looks more often.
            if let Ok(event) = self.events.recv_timeout(Duration::from_millis(200)) {
                return event;
            }
        }
    }
}

fn one_thread() -> Runtime {
    runtime::Builder::new_current_thread().max_blocking_threads(1).enable_time().build().unwrap()
}

/// Runs a task on a runtime of its own, on a thread of its own.
fn on_a_thread(future: impl Future<Output = ()> + Send + 'static) -> thread::JoinHandle<()> {
    thread::spawn(move || one_thread().block_on(async { dyntrace::spawn(future).await.unwrap() }))
}
