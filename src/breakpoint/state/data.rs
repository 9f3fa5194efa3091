//! What is done where a function is hit, by the entries of all sessions together.

use std::sync::Arc;

use super::entry::BpEntry;
use super::flags::Flags;
use crate::breakpoint::measure::counters::CounterSlot;
use crate::process::Sieve;

/// One generation of breakpoints.
pub(crate) struct BpData {
    /// What can be known without looking at the entries.
    pub(crate) quick: Quick,
    /// Whether what it does is done in a moment: events of calls that fire probes, and nothing about their ends.
    pub(crate) is_brief: bool,
    pub(crate) entries: Vec<BpEntry>,
    /// The places of those of their counters that count every call.
    pub(crate) counts: Vec<CounterSlot>,
}

/// What is done about a call.
#[derive(Clone, Copy)]
pub(crate) enum Quick {
    /// Each is counted, and that is all.
    Counted(CounterSlot),
    /// The time that it takes is added up, too.
    Timed(CounterSlot),
    /// Those of these processes are looked at; nothing is done about others.
    Of(Sieve),
}

impl Quick {
    /// `None` if the entry has to look at calls.
    fn of(entry: &BpEntry) -> Option<Quick> {
        let slot = entry.counter.as_ref().filter(|_| entry.takes_all)?.slot();
        let quick = if entry.flags.contains(Flags::TIME) { Quick::Timed } else { Quick::Counted };
        entry.flags.are_among(Flags::COUNT | Flags::TIME).then(|| quick(slot))
    }
}

impl BpData {
    /// How many patterns may name one function: a hit has a bit for each.
    pub(crate) const ENTRIES: usize = u64::BITS as usize;

    /// `None` when nothing is to be done.
    pub(crate) fn new(entries: Vec<BpEntry>) -> Option<Arc<BpData>> {
        let counting = entries.iter().filter(|entry| entry.takes_all).filter_map(|entry| entry.counter.as_ref());
        let counts = counting.map(|counter| counter.slot()).collect();
        let alone = match &entries[..] {
            [entry] => Quick::of(entry),
            _ => None,
        };
        let sieve = || entries.iter().map(BpEntry::sieve).collect();
        let quick = alone.unwrap_or_else(|| Quick::Of(sieve()));
        let is_brief = entries.iter().all(BpEntry::is_brief);
        (!entries.is_empty()).then(|| Arc::new(BpData { quick, is_brief, entries, counts }))
    }
}
