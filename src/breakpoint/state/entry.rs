//! Entries of breakpoints.

use std::sync::Arc;

use super::flags::Flags;
use super::process_flags::ProcessFilter;
use super::session_core::SessionCore;
use super::set_pattern::SetPattern;
use crate::breakpoint::measure::counters::Counter;
use dyntrace_processes::process::{Pid, PidFilter};

/// The actions of one pattern of one session at one function.
#[derive(Clone)]
pub(crate) struct BpEntry {
    pub(crate) session: Arc<SessionCore>,
    pub(crate) set: Arc<SetPattern>,
    pub(crate) flags: Flags,
    /// Whether it matches every call, so that no argument is inspected.
    pub(crate) takes_all: bool,
    pub(crate) filter: ProcessFilter,
    /// Whether it matches calls of all processes: its action `set(call)` finds processes for the session's other entries.
    takes_every_process: bool,
    pub(crate) counter: Option<Arc<Counter>>,
}

impl BpEntry {
    pub(crate) fn new(session: Arc<SessionCore>, set: Arc<SetPattern>, counter: Option<Arc<Counter>>) -> BpEntry {
        let actions = set.pattern.match_spec().actions();
        let (flags, takes_every_process) = (actions.into(), actions.set.call);
        let (filter, takes_all) = (ProcessFilter::default(), false);
        let mut entry = BpEntry { session, set, flags, takes_all, takes_every_process, filter, counter };
        entry.restrict();
        entry
    }

    /// Returns whether it does no more than fire the call's probe, count it and change flags.
    pub(crate) fn is_brief(&self) -> bool {
        self.flags.are_among(Flags::CALL | Flags::COUNT | Flags::FLAG) && self.session.is_to_probes()
    }

    /// Returns whether it does no more for every call than fire probes: it neither counts nor changes flags.
    pub(crate) fn is_for_probes(&self) -> bool {
        self.takes_all && self.counter.is_none() && !self.flags.contains(Flags::FLAG) && self.session.is_to_probes()
    }

    pub(crate) fn pid_filter(&self) -> PidFilter {
        if self.takes_every_process { PidFilter::ALL } else { self.filter.pid_filter() }
    }

    pub(crate) fn restrict(&mut self) {
        self.filter = self.session.filter().clone();
        self.takes_all = self.set.pattern.match_spec().takes_all()
            && (self.takes_every_process || self.filter.takes_every_process());
    }

    pub(crate) fn is_for(&self, current: impl FnOnce() -> Pid) -> bool {
        self.takes_every_process || self.filter.is_for(current)
    }

    /// Returns whether the current process sends no events.
    pub(crate) fn is_silent(&self) -> bool {
        self.filter.flags.as_ref().is_some_and(|flags| flags.is_silent())
    }

    /// Changes flags and the token of the current process, for later calls.
    pub(crate) fn flag(&self) {
        let actions = self.set.pattern.match_spec().actions();
        if let Some(flags) = &self.filter.flags {
            flags.change(actions);
        }
        if actions.set_token.is_any() {
            actions.set_token.apply();
        }
    }
}
