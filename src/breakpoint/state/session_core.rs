//! The part of a session that its breakpoints share: its patterns, its process filter, and where its events go.

use std::hint::black_box;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dyntrace_probes::thread_progress::Tally;

use super::held_up::HeldUp;
use super::limits::{Limits, SessionState};
use super::process_flags::ProcessFilter;
use super::set_pattern::SetPattern;
use crate::breakpoint::error::Error;
use crate::breakpoint::event::occurrence::{self, Occurrence};
use crate::breakpoint::event::{Event, Kind};
use crate::breakpoint::pattern_id::PatternId;

/// Where a session's events go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Destination {
    /// To the tracer, on the session's thread.
    Tracer,
    /// To the probes, fired on the calling thread.
    Probes,
}

pub(crate) struct SessionCore {
    pub(crate) state: Arc<SessionState>,
    sets: Mutex<Vec<Arc<SetPattern>>>,
    /// Read when entries are staged, so that the later of two changes sees the latest value.
    filter: Mutex<ProcessFilter>,
    /// Whether its breakpoints were removed when it was over.
    is_removed: AtomicBool,
    /// The longest delay of its settings.
    held_up: Mutex<Option<HeldUp>>,
    /// The number of events that have fired probes. `None` if events go to the tracer.
    fired: Option<Tally>,
    /// `None` says that the session is over. The session's thread ends when the last sender is dropped.
    events: SyncSender<Option<Event>>,
}

impl SessionCore {
    pub(crate) fn new(limits: Limits, to: Destination, events: SyncSender<Option<Event>>) -> SessionCore {
        SessionCore {
            state: Arc::new(SessionState::new(limits)),
            sets: Mutex::default(),
            filter: Mutex::default(),
            is_removed: AtomicBool::new(false),
            held_up: Mutex::default(),
            fired: (to == Destination::Probes).then(Tally::new),
            events,
        }
    }

    /// Locks the patterns. No code panics under this lock.
    pub(crate) fn sets(&self) -> MutexGuard<'_, Vec<Arc<SetPattern>>> {
        self.sets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a pattern to the list, and prepares the process filter for it. Returns the one with the same number that it replaces, and
    /// whether that changes which calls the others match. Fails if the one was removed, or replaced by a later one.
    pub(crate) fn insert(&self, set: &Arc<SetPattern>, is_new: bool) -> Result<(Option<Arc<SetPattern>>, bool), Error> {
        let mut filter = self.filter();
        let mut sets = self.sets();
        let place = sets.iter().position(|known| known.id == set.id);
        if set.is_superseded() || (place.is_none() && !is_new) {
            return Err(Error::NoPattern { id: set.id });
        }
        let prepared = filter.prepare(set.pattern.match_spec().actions())?;
        set.prepared.get_or_init(|| prepared);
        let replaced = match place.map(|place| &mut sets[place]) {
            Some(known) if Arc::ptr_eq(known, set) => None,
            Some(known) => {
                let old = mem::replace(known, Arc::clone(set));
                old.supersede();
                Some(old)
            }
            None => {
                sets.push(Arc::clone(set));
                None
            }
        };
        Ok((replaced, prepared.concerns_others()))
    }

    /// Returns the pattern that has this number now.
    pub(crate) fn find(&self, id: PatternId) -> Result<Arc<SetPattern>, Error> {
        self.sets().iter().find(|set| set.id == id).cloned().ok_or(Error::NoPattern { id })
    }

    /// Removes the pattern from the list, but not its breakpoints.
    pub(crate) fn remove(&self, id: PatternId) -> Result<Arc<SetPattern>, Error> {
        let mut sets = self.sets();
        let place = sets.iter().position(|set| set.id == id).ok_or(Error::NoPattern { id })?;
        let set = sets.remove(place);
        set.supersede();
        Ok(set)
    }

    /// Undoes [`insert`](SessionCore::insert) of a new pattern. Returns whether that changes which calls the others match; `None` if
    /// the pattern is not in the list.
    pub(crate) fn take_back(&self, set: &Arc<SetPattern>) -> Option<bool> {
        let mut filter = self.filter();
        let mut sets = self.sets();
        let place = sets.iter().position(|known| Arc::ptr_eq(known, set))?;
        sets.remove(place).supersede();
        let prepared = set.prepared.get().filter(|_| !sets.iter().any(|other| other.flags_processes()));
        Some(prepared.is_some_and(|prepared| filter.take_back(*prepared)))
    }

    /// Locks the process filter. No code panics under this lock.
    pub(crate) fn filter(&self) -> MutexGuard<'_, ProcessFilter> {
        self.filter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that its breakpoints were removed. It is over, and so gets no new ones.
    pub(crate) fn note_removed(&self) {
        // Relaxed: only its owner's drop reads it, to leave out a removal.
        self.is_removed.store(true, Ordering::Relaxed);
    }

    /// Returns whether it may have breakpoints.
    pub(crate) fn has_breakpoints(&self) -> bool {
        !self.is_removed.load(Ordering::Relaxed) && self.sets().iter().any(|set| !set.sites().is_empty())
    }

    /// Locks the longest delay of its settings. No code panics under this lock.
    pub(crate) fn held_up(&self) -> MutexGuard<'_, Option<HeldUp>> {
        self.held_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn delivered(&self) -> u64 {
        // Acquire: with the Release of the session's thread.
        self.state.delivered.load(Ordering::Acquire) + self.fired.as_ref().map_or(0, Tally::read)
    }

    pub(crate) fn is_to_probes(&self) -> bool {
        self.fired.is_some()
    }

    /// Returns whether its events of any kind have a receiver.
    pub(crate) fn is_heard(&self) -> bool {
        self.fired.is_none() || occurrence::is_any_heard()
    }

    #[inline]
    fn hears(&self, kind: Kind) -> bool {
        self.fired.is_none() || occurrence::is_heard(kind)
    }

    /// Returns whether an event of this kind has a receiver, and the limits allow it. Then the caller must [send](Self::send) it.
    #[inline(always)]
    pub(crate) fn admits(&self, kind: Kind) -> bool {
        self.hears(kind) && self.state.admits()
    }

    /// Sends an event that was [admitted](Self::admits). Never waits.
    #[inline(always)]
    pub(crate) fn send(&self, occurrence: Occurrence<'_>) {
        match &self.fired {
            // A copy for the call, which gets its address: so the compiler need not store the parts of one that fires a probe.
            None => self.send_to_tracer(black_box(occurrence).event()),
            Some(fired) => {
                occurrence.fire();
                fired.count();
                if self.state.is_over() {
                    // That was the last event. A full channel holds such a message already.
                    let _ = self.events.try_send(None);
                }
            }
        }
    }

    fn send_to_tracer(&self, event: Event) {
        let counted = match self.events.try_send(Some(event)) {
            Ok(()) => &self.state.sent,
            Err(_) => &self.state.dropped,
        };
        // Release: a thread that reads it after a join finds the event sent.
        counted.fetch_add(1, Ordering::Release);
    }
}

#[cfg(all(not(loom), test))]
mod tests {
    use std::sync::Weak;
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn a_call_under_the_first_version_of_a_pattern_keeps_no_later_one_alive() {
        let session = SessionCore::new(Limits::default(), Destination::Tracer, sync_channel(1).0);
        let put = |set: SetPattern, is_new| {
            let set = Arc::new(set);
            session.insert(&set, is_new).unwrap();
            set
        };
        let pattern = || "**::f".parse().unwrap();
        let first = put(SetPattern::new(pattern(), false), true);
        let later: Vec<Weak<SetPattern>> = (0..4).map(|_| Arc::downgrade(&put(first.with(pattern()), false))).collect();
        assert!(first.is_superseded());
        let alive: Vec<bool> = later.iter().map(|version| version.strong_count() > 0).collect();
        assert_eq!(alive, [false, false, false, true]);
        assert!(Arc::ptr_eq(&session.find(first.id).unwrap(), &later[3].upgrade().unwrap()));
        session.remove(first.id).unwrap();
        assert!(later[3].upgrade().is_none() && session.find(first.id).is_err());
    }
}
