//! A session's thread: passes events to the tracer, and removes the breakpoints when a limit is reached.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use dyntrace_probes::contain::contain;
use dyntrace_probes::thread_progress::{self, os::without_signals};

use super::patterns::remove_all;
use crate::breakpoint::event::Event;
use crate::breakpoint::hit::busy::untraced_thread;
use crate::breakpoint::state::limits::{Limits, SessionState};
use crate::breakpoint::state::session_core::{Destination, SessionCore};

/// The wait for events of a session without a time limit.
const LONG: Duration = Duration::from_secs(3600);

/// Starts a session's thread. It ends when the last reference to the session is dropped.
pub(crate) fn start(
    limits: Limits,
    to: Destination,
    tracer: impl FnMut(&Event) + Send + 'static,
) -> io::Result<Arc<SessionCore>> {
    let (events, received) = sync_channel(match to {
        Destination::Tracer => limits.waiting.max(1),
        Destination::Probes => 1,
    });
    let shared = Arc::new(SessionCore::new(limits, to, events));
    let (state, session) = (Arc::clone(&shared.state), Arc::downgrade(&shared));
    let thread = thread::Builder::new().name("dyntrace-tracer".into());
    // The program's signal handlers run on its own threads only.
    without_signals(|| thread.spawn(move || run(&received, &state, &session, tracer)))?;
    Ok(shared)
}

fn run(
    received: &Receiver<Option<Event>>,
    state: &SessionState,
    session: &Weak<SessionCore>,
    mut tracer: impl FnMut(&Event),
) {
    untraced_thread();
    let mut is_removed = false;
    loop {
        let patience = state.limits.time.map_or(LONG, |time| time.saturating_sub(state.begun.elapsed()));
        match received.recv_timeout(if is_removed { LONG } else { patience }) {
            Ok(Some(event)) => {
                // A tracer that has panicked gets no more events.
                if !state.drops_events() && contain(|| tracer(&event)).is_none() {
                    state.end();
                    state.drop_events();
                }
                // Release: with the Acquire of `delivered`.
                state.delivered.fetch_add(1, Ordering::Release);
                state.all_delivered.notify_one();
            }
            Ok(None) => {}
            Err(RecvTimeoutError::Timeout) if !patience.is_zero() => {}
            Err(RecvTimeoutError::Timeout) => state.end(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if state.is_over() && !is_removed {
            is_removed = true;
            if let Some(session) = session.upgrade() {
                let _ = thread_progress::complete(async move { remove_all(&session).await });
            }
        }
    }
}
