//! Stress of traced functions, called from anywhere while settings change.

mod deep;
mod ends;
mod fork;
mod handlers;
mod held_up;
mod recorded;
mod sessions;
mod storm;

use std::fs;
use std::sync::mpsc::{Receiver, channel};

use dyntrace::trace::{Event, Info, Limits, Session};

/// A session with one pattern, and the events of its tracer.
struct Watch {
    session: Session,
    events: Receiver<Event>,
}

impl Watch {
    async fn on(pattern: &str) -> Watch {
        let (send, events) = channel();
        let tracer = move |event: &Event| {
            let _ = send.send(event.clone());
        };
        let session = Session::start(Limits::default(), tracer).unwrap();
        session.set(pattern).await.unwrap();
        Watch { session, events }
    }

    /// Returns the events after all were delivered.
    async fn end(self) -> (Vec<Event>, Info) {
        let info = self.session.close().await;
        (self.events.try_iter().collect(), info)
    }
}

/// A session with one pattern, without a tracer.
async fn counting(pattern: &str) -> Session {
    let session = Session::start(Limits::default(), |_| ()).unwrap();
    session.set(pattern).await.unwrap();
    session
}

/// Returns the number of counted calls.
fn calls(session: &Session) -> u64 {
    session.counts().iter().map(|count| count.calls).sum()
}

/// Returns the number of tracer threads of this program.
fn tracers() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.starts_with("dyntrace-tracer")).count()
}
