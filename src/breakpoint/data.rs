//! What is done where a function is hit: what all sessions together want there.

use std::ops::BitOr;
use std::sync::Arc;

use super::counters::{Counter, Place};
use super::pattern::{Actions, Pattern};
use super::shared::Shared;
use crate::process::Pid;

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

    /// Those that want an event at the end.
    pub(super) const ENDS: Flags = Flags(Flags::RETURN.0 | Flags::PANIC.0 | Flags::ERROR.0);

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
            | Flags::COUNT.when(actions.count)
            | Flags::TIME.when(actions.time)
    }
}

/// What one pattern of one session does at one function.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) session: Arc<Shared>,
    pub(super) pattern: Arc<Pattern>,
    /// What the pattern's actions say.
    pub(super) flags: Flags,
    /// Whether it is about every call, so that nothing has to be known of one.
    pub(super) takes_all: bool,
    /// Whose calls: everybody's, if there is no list.
    pub(super) processes: Option<Arc<[Pid]>>,
    pub(super) counter: Option<Arc<Counter>>,
}

/// One generation of one breakpoint.
pub(super) struct BpData {
    pub(super) entries: Vec<Entry>,
    /// The places of those of their counters that count every call.
    pub(super) counts: Vec<Place>,
    /// Where nobody wants to know more of a call than when it was and how long it took.
    pub(super) plain: Option<Times>,
}

/// Places where the time of a call is added.
#[derive(Clone, Copy, Default)]
pub(super) struct Times {
    places: [Place; Times::MOST],
    count: u8,
}

impl Times {
    /// So few that a call can have them with it.
    const MOST: usize = 4;

    fn new(times: &[Place]) -> Option<Times> {
        let mut places = [Place::default(); Times::MOST];
        places.get_mut(..times.len())?.copy_from_slice(times);
        Some(Times { places, count: times.len() as u8 })
    }

    pub(super) fn places(&self) -> &[Place] {
        &self.places[..usize::from(self.count)]
    }
}

impl BpData {
    /// How many patterns may name one function: a hit has a bit for each.
    pub(super) const ENTRIES: usize = u64::BITS as usize;

    /// `None` when nothing is to be done.
    pub(super) fn new(entries: Vec<Entry>) -> Option<Arc<BpData>> {
        let counting = entries.iter().filter(|entry| entry.takes_all).filter_map(|entry| entry.counter.as_ref());
        let counts = counting.map(|counter| counter.place()).collect();
        let are_plain =
            entries.iter().all(|entry| entry.takes_all && entry.flags.are_among(Flags::COUNT | Flags::TIME));
        let timing = entries.iter().filter(|entry| entry.flags.contains(Flags::TIME));
        let times: Vec<_> = timing.filter_map(|entry| Some(entry.counter.as_ref()?.place())).collect();
        let plain = Times::new(&times).filter(|_| are_plain);
        (!entries.is_empty()).then(|| Arc::new(BpData { entries, counts, plain }))
    }
}

impl Entry {
    pub(super) fn new(session: Arc<Shared>, pattern: Arc<Pattern>, processes: Option<Arc<[Pid]>>) -> Entry {
        let flags = pattern.match_spec().actions().into();
        let takes_all = pattern.match_spec().takes_all() && processes.is_none();
        Entry { session, pattern, flags, takes_all, processes, counter: None }
    }

    /// For the calls of these processes only.
    pub(super) fn restrict(&mut self, processes: &Arc<[Pid]>) {
        self.processes = Some(Arc::clone(processes));
        self.takes_all = false;
    }

    /// Whether it is for the calls of this process.
    pub(super) fn is_for(&self, process: Pid) -> bool {
        self.processes.as_ref().is_none_or(|processes| processes.contains(&process))
    }
}
