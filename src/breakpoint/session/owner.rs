//! A session that ends with its owner.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dyntrace_probes::clock;
use dyntrace_probes::forks;
use dyntrace_probes::host;
use dyntrace_probes::thread_progress::{self, Completed};

use super::info::PatternInfo;
use super::{patterns, tracer};
use crate::breakpoint::error::Error;
use crate::breakpoint::event::Event;
use crate::breakpoint::state::limits::Limits;
use crate::breakpoint::state::session_core::{Destination, SessionCore};
use crate::breakpoint::state::set_pattern::SetPattern;

/// Ends the session when it is dropped.
pub(crate) struct SessionOwner {
    pub(crate) core: Arc<SessionCore>,
}

impl SessionOwner {
    pub(crate) fn start(
        limits: Limits,
        to: Destination,
        tracer: impl FnMut(&Event) + Send + 'static,
    ) -> io::Result<SessionOwner> {
        if host::is_guest() {
            return Err(host::refused(
                "a session of traces",
                "start it in the program, whose patterns name the module's functions, too",
            ));
        }
        thread_progress::prepare()?;
        clock::prepare();
        forks::count()?;
        Ok(SessionOwner { core: tracer::start(limits, to, tracer)? })
    }

    /// Sets a new pattern, everywhere or nowhere.
    pub(crate) async fn set(&self, set: SetPattern) -> Result<PatternInfo, Error> {
        let set = Arc::new(set);
        let mut unset = Unset { session: &self.core, set: &set, is_set: false };
        match patterns::put(&self.core, &set, true).await {
            Ok(()) => {
                unset.is_set = true;
                Ok(PatternInfo::of(&set))
            }
            Err(error) => {
                match patterns::take_back(&self.core, &set) {
                    Some(removing) if thread_progress::is_pinned() => _ = thread_progress::complete(removing),
                    Some(removing) => _ = Completed::new(removing).await,
                    None => {}
                }
                Err(error)
            }
        }
    }

    /// Ends the session, and waits until its tracer has got all events.
    pub(crate) async fn end(&self) {
        let state = &self.core.state;
        state.end();
        patterns::remove_all(&self.core).await;
        // Acquire: partner is the tracer's thread, which may count an event before its sender does.
        let is_behind = || state.delivered.load(Ordering::Acquire) < state.sent.load(Ordering::Acquire);
        while is_behind() && !state.is_of_parent() {
            state.all_delivered.notified().await;
        }
    }
}

/// A new pattern that may be set at some sites only. Its drop takes it back, in the background.
struct Unset<'s> {
    session: &'s Arc<SessionCore>,
    set: &'s Arc<SetPattern>,
    is_set: bool,
}

impl Drop for Unset<'_> {
    fn drop(&mut self) {
        if !self.is_set
            && let Some(removing) = patterns::take_back(self.session, self.set)
        {
            let _ = thread_progress::complete(removing);
        }
    }
}

impl Drop for SessionOwner {
    /// Drops the events that wait for the tracer.
    fn drop(&mut self) {
        self.core.state.end();
        self.core.state.drop_events();
        if self.core.has_breakpoints() {
            let session = Arc::clone(&self.core);
            let _ = thread_progress::complete(async move { patterns::remove_all(&session).await });
        }
    }
}
