//! What is done where a function is hit: what all sessions together want there.

use std::ops::BitOr;
use std::sync::Arc;

use super::counters::{Counter, Place};
use super::pattern::{self, Actions};
use super::process_flags::Whose;
use super::set::Set;
use super::shared::Shared;
use crate::process::{Pid, Sieve};

/// What is done at a hit, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Flags(u16);

impl Flags {
    pub(super) const NONE: Flags = Flags(0);
    pub(super) const CALL: Flags = Flags(1);
    pub(super) const RETURN: Flags = Flags(1 << 1);
    pub(super) const PANIC: Flags = Flags(1 << 2);
    /// The call's event has its caller.
    pub(super) const CALLER: Flags = Flags(1 << 3);
    pub(super) const COUNT: Flags = Flags(1 << 4);
    pub(super) const TIME: Flags = Flags(1 << 5);
    /// An `Err` that is returned is told as such.
    pub(super) const ERROR: Flags = Flags(1 << 6);
    /// It changes flags or the sequential trace token of the process that calls.
    pub(super) const FLAG: Flags = Flags(1 << 7);
    /// Whom it returns to is told.
    pub(super) const RETURN_TO: Flags = Flags(1 << 8);
    /// The call's event has the token of its process.
    pub(super) const TOKEN: Flags = Flags(1 << 9);
    /// The call's event has the stack.
    pub(super) const STACKTRACE: Flags = Flags(1 << 10);
    /// What it allocates is added up.
    pub(super) const MEMORY: Flags = Flags(1 << 11);

    /// Those that want an event at the end.
    pub(super) const ENDS: Flags = Flags(Flags::RETURN.0 | Flags::PANIC.0 | Flags::ERROR.0 | Flags::RETURN_TO.0);

    /// Those that have a counter.
    pub(super) const COUNTS: Flags = Flags(Flags::COUNT.0 | Flags::TIME.0 | Flags::MEMORY.0);

    pub(super) const fn contains(self, others: Flags) -> bool {
        self.0 & others.0 == others.0
    }

    pub(super) const fn intersects(self, others: Flags) -> bool {
        self.0 & others.0 != 0
    }

    /// Whether there are no others than those.
    fn are_among(self, those: Flags) -> bool {
        self.0 & !those.0 == 0
    }

    /// These, or none.
    fn when(self, wanted: bool) -> Flags {
        if wanted { self } else { Flags::NONE }
    }
}

impl BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl From<Actions> for Flags {
    fn from(actions: Actions) -> Flags {
        Flags::CALL.when(!actions.silent)
            | Flags::CALLER.when(actions.caller)
            | Flags::RETURN.when(actions.return_)
            | Flags::PANIC.when(actions.exception)
            | Flags::ERROR.when(actions.error)
            | Flags::RETURN_TO.when(actions.return_to)
            | Flags::COUNT.when(actions.count)
            | Flags::TIME.when(actions.time)
            | Flags::MEMORY.when(actions.memory)
            | Flags::FLAG
                .when([actions.set, actions.clear] != [pattern::Flags::default(); 2] || actions.set_token.is_any())
            | Flags::TOKEN.when(actions.get_token)
            | Flags::STACKTRACE.when(actions.stacktrace.is_some())
    }
}

/// What one pattern of one session does at one function.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) session: Arc<Shared>,
    pub(super) set: Arc<Set>,
    /// What the pattern's actions say.
    pub(super) flags: Flags,
    /// Whether it is about every call, so that nothing has to be known of one.
    pub(super) takes_all: bool,
    pub(super) whose: Whose,
    /// Whether it looks at the calls of others, too: it finds processes for the session's other entries.
    is_everybodys: bool,
    pub(super) counter: Option<Arc<Counter>>,
}

/// One generation of breakpoints.
pub(super) struct BpData {
    /// What can be known without looking at the entries.
    pub(super) quick: Quick,
    /// Whether what it does is done in a moment: events of calls that fire probes, and nothing about their ends.
    pub(super) is_brief: bool,
    pub(super) entries: Vec<Entry>,
    /// The places of those of their counters that count every call.
    pub(super) counts: Vec<Place>,
}

/// What is done about a call.
#[derive(Clone, Copy)]
pub(super) enum Quick {
    /// Each is counted, and that is all.
    Counted(Place),
    /// The time that it takes is added up, too.
    Timed(Place),
    /// Those of these processes are looked at; nothing is done about others.
    Of(Sieve),
}

impl BpData {
    /// How many patterns may name one function: a hit has a bit for each.
    pub(super) const ENTRIES: usize = u64::BITS as usize;

    /// `None` when nothing is to be done.
    pub(super) fn new(entries: Vec<Entry>) -> Option<Arc<BpData>> {
        let counting = entries.iter().filter(|entry| entry.takes_all).filter_map(|entry| entry.counter.as_ref());
        let counts = counting.map(|counter| counter.place()).collect();
        let alone = match &entries[..] {
            [entry] => entry.quick(),
            _ => None,
        };
        let sieve = || entries.iter().map(Entry::sieve).collect();
        let quick = alone.unwrap_or_else(|| Quick::Of(sieve()));
        let is_brief = entries.iter().all(Entry::is_brief);
        (!entries.is_empty()).then(|| Arc::new(BpData { quick, is_brief, entries, counts }))
    }
}

impl Entry {
    pub(super) fn new(session: Arc<Shared>, set: Arc<Set>, counter: Option<Arc<Counter>>) -> Entry {
        let actions = set.pattern.match_spec().actions();
        let (flags, is_everybodys) = (actions.into(), actions.set.call);
        let (whose, takes_all) = (Whose::default(), false);
        let mut entry = Entry { session, set, flags, takes_all, is_everybodys, whose, counter };
        entry.restrict();
        entry
    }

    /// `None` if it has to look at calls.
    fn quick(&self) -> Option<Quick> {
        let place = self.counter.as_ref().filter(|_| self.takes_all)?.place();
        let quick = if self.flags.contains(Flags::TIME) { Quick::Timed } else { Quick::Counted };
        self.flags.are_among(Flags::COUNT | Flags::TIME).then(|| quick(place))
    }

    /// Whether it takes no longer than to write down the call.
    fn is_brief(&self) -> bool {
        self.flags.are_among(Flags::CALL | Flags::COUNT | Flags::FLAG) && self.session.is_to_probes()
    }

    /// Whose calls it may be about.
    fn sieve(&self) -> Sieve {
        if self.is_everybodys { Sieve::ALL } else { self.whose.sieve() }
    }

    /// For the calls of whom the session is about from now on.
    pub(super) fn restrict(&mut self) {
        self.whose = self.session.whose().clone();
        self.takes_all =
            self.set.pattern.match_spec().takes_all() && (self.is_everybodys || self.whose.is_everybodys());
    }

    /// Whether it is for the calls of the current process.
    pub(super) fn is_for(&self, current: impl FnOnce() -> Pid) -> bool {
        self.is_everybodys || self.whose.is_for(current)
    }

    /// Whether the current process is to send no events.
    pub(super) fn is_silent(&self) -> bool {
        self.whose.flags.as_ref().is_some_and(|flags| flags.is_silent())
    }

    /// Changes flags and the token of the current process, for its next calls.
    pub(super) fn flag(&self) {
        let actions = self.set.pattern.match_spec().actions();
        if let Some(flags) = &self.whose.flags {
            flags.change(actions);
        }
        if actions.set_token.is_any() {
            actions.set_token.apply();
        }
    }
}
