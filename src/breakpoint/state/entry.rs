//! What one pattern of one session does at one function.

use std::sync::Arc;

use super::flags::Flags;
use super::process_flags::ProcessFilter;
use super::session_core::SessionCore;
use super::set::Set;
use crate::breakpoint::measure::counters::Counter;
use crate::process::{Pid, Sieve};

/// What one pattern of one session does at one function.
#[derive(Clone)]
pub(crate) struct BpEntry {
    pub(crate) session: Arc<SessionCore>,
    pub(crate) set: Arc<Set>,
    /// What the pattern's actions say.
    pub(crate) flags: Flags,
    /// Whether it is about every call, so that nothing has to be known of one.
    pub(crate) takes_all: bool,
    pub(crate) whose: ProcessFilter,
    /// Whether it looks at the calls of others, too: it finds processes for the session's other entries.
    is_everybodys: bool,
    pub(crate) counter: Option<Arc<Counter>>,
}

impl BpEntry {
    pub(crate) fn new(session: Arc<SessionCore>, set: Arc<Set>, counter: Option<Arc<Counter>>) -> BpEntry {
        let actions = set.pattern.match_spec().actions();
        let (flags, is_everybodys) = (actions.into(), actions.set.call);
        let (whose, takes_all) = (ProcessFilter::default(), false);
        let mut entry = BpEntry { session, set, flags, takes_all, is_everybodys, whose, counter };
        entry.restrict();
        entry
    }

    /// Whether it takes no longer than to write down the call.
    pub(crate) fn is_brief(&self) -> bool {
        self.flags.are_among(Flags::CALL | Flags::COUNT | Flags::FLAG) && self.session.is_to_probes()
    }

    /// ProcessFilter calls it may be about.
    pub(crate) fn sieve(&self) -> Sieve {
        if self.is_everybodys { Sieve::ALL } else { self.whose.sieve() }
    }

    /// For the calls of whom the session is about from now on.
    pub(crate) fn restrict(&mut self) {
        self.whose = self.session.whose().clone();
        self.takes_all =
            self.set.pattern.match_spec().takes_all() && (self.is_everybodys || self.whose.is_everybodys());
    }

    /// Whether it is for the calls of the current process.
    pub(crate) fn is_for(&self, current: impl FnOnce() -> Pid) -> bool {
        self.is_everybodys || self.whose.is_for(current)
    }

    /// Whether the current process is to send no events.
    pub(crate) fn is_silent(&self) -> bool {
        self.whose.flags.as_ref().is_some_and(|flags| flags.is_silent())
    }

    /// Changes flags and the token of the current process, for its next calls.
    pub(crate) fn flag(&self) {
        let actions = self.set.pattern.match_spec().actions();
        if let Some(flags) = &self.whose.flags {
            flags.change(actions);
        }
        if actions.set_token.is_any() {
            actions.set_token.apply();
        }
    }
}
