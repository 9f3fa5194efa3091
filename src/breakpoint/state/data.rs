//! One generation of a breakpoint: the entries of all sessions at one function.

use std::sync::Arc;

use super::entry::BpEntry;
use super::flags::Flags;
use crate::breakpoint::measure::counters::CounterSlot;
use dyntrace_processes::process::PidFilter;

/// One generation of breakpoints.
pub(crate) struct BpData {
    /// The decision that a hit can make without reading the entries.
    pub(crate) quick: Quick,
    /// Whether hits can stay pinned: all entries are [brief](BpEntry::is_brief).
    pub(crate) is_brief: bool,
    /// Whether hits begin without a look at the entries: all are [for probes](BpEntry::is_for_probes) only.
    pub(crate) is_for_probes: bool,
    /// Whether there is one entry, [for probes](BpEntry::is_for_probes) only, and the call's probe does not tell the caller.
    pub(crate) fires_alone: bool,
    pub(crate) entries: Vec<BpEntry>,
    /// The slots of those counters that count every call.
    pub(crate) counts: Vec<CounterSlot>,
}

/// The decision of a hit that has not read the entries.
#[derive(Clone, Copy)]
pub(crate) enum Quick {
    /// Every call is counted, nothing else.
    Counted(CounterSlot),
    /// Every call is counted and timed, nothing else.
    Timed(CounterSlot),
    /// Calls of these processes need the entries; other calls need nothing.
    Of(PidFilter),
}

impl Quick {
    /// Returns `None` if the entry needs more than a count.
    fn of(entry: &BpEntry) -> Option<Quick> {
        let slot = entry.counter.as_ref().filter(|_| entry.takes_all)?.slot();
        let quick = if entry.flags.contains(Flags::TIME) { Quick::Timed } else { Quick::Counted };
        entry.flags.are_among(Flags::COUNT | Flags::TIME).then(|| quick(slot))
    }
}

impl BpData {
    /// Notes a call whose end its sessions will not see.
    #[cold]
    pub(crate) fn note_unended(&self) {
        self.entries.iter().for_each(|entry| entry.session.state.note_unended());
    }

    /// The most patterns of one function: a hit has a bit for each.
    pub(crate) const ENTRIES: usize = u64::BITS as usize;

    /// Returns `None` without entries.
    pub(crate) fn new(entries: Vec<BpEntry>) -> Option<Arc<BpData>> {
        let counting = entries.iter().filter(|entry| entry.takes_all).filter_map(|entry| entry.counter.as_ref());
        let counts = counting.map(|counter| counter.slot()).collect();
        let alone = match &entries[..] {
            [entry] => Quick::of(entry),
            _ => None,
        };
        let pid_filter = || entries.iter().map(BpEntry::pid_filter).collect();
        let quick = alone.unwrap_or_else(|| Quick::Of(pid_filter()));
        let is_brief = entries.iter().all(BpEntry::is_brief);
        let is_for_probes = entries.iter().all(BpEntry::is_for_probes);
        let fires_alone = is_for_probes && matches!(&entries[..], [entry] if !entry.flags.contains(Flags::CALLER));
        (!entries.is_empty()).then(|| Arc::new(BpData { quick, is_brief, is_for_probes, fires_alone, entries, counts }))
    }
}
