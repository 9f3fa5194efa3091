//! What a session's breakpoints have of their session: whether it goes on, and where its events go.

use std::mem;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::held_up::HeldUp;
use super::limits::{Limits, SessionState};
use super::process_flags::ProcessFilter;
use super::set::Set;
use crate::breakpoint::error::Error;
use crate::breakpoint::event::told::{self, Told};
use crate::breakpoint::event::{Event, Kind};
use crate::breakpoint::pattern_id::PatternId;
use crate::thread_progress::Tally;

/// Where a session's events go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Destination {
    /// By the session's thread to its tracer.
    Tracer,
    /// On the calling thread to whoever looks at the probes.
    Probes,
}

pub(crate) struct SessionCore {
    pub(crate) state: Arc<SessionState>,
    sets: Mutex<Vec<Arc<Set>>>,
    /// Read where entries are staged, so that of two changes the one that comes last finds it as it is by then.
    whose: Mutex<ProcessFilter>,
    /// The longest of those that have held up its settings.
    held_up: Mutex<Option<HeldUp>>,
    /// Events that have fired probes. `None` if they go to the session's tracer.
    fired: Option<Tally>,
    /// `None` says that the session is over. The session's thread ends when the last of these is gone.
    events: SyncSender<Option<Event>>,
}

impl SessionCore {
    pub(crate) fn new(limits: Limits, to: Destination, events: SyncSender<Option<Event>>) -> SessionCore {
        SessionCore {
            state: Arc::new(SessionState::new(limits)),
            sets: Mutex::default(),
            whose: Mutex::default(),
            held_up: Mutex::default(),
            fired: (to == Destination::Probes).then(Tally::new),
            events,
        }
    }

    /// Its patterns. Nothing panics under this lock.
    pub(crate) fn sets(&self) -> MutexGuard<'_, Vec<Arc<Set>>> {
        self.sets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a pattern on the list, in the place of the one that has its number; answers that one.
    ///
    /// # Errors
    ///
    /// [`Error::NoPattern`]: the number was given up, or has another pattern again.
    pub(crate) fn enter(&self, set: &Arc<Set>, is_new: bool) -> Result<Option<Arc<Set>>, Error> {
        let mut sets = self.sets();
        if set.is_superseded() {
            return Err(Error::NoPattern { id: set.id });
        }
        match sets.iter_mut().find(|known| known.id == set.id) {
            Some(known) if Arc::ptr_eq(known, set) => Ok(None),
            Some(known) => {
                let old = mem::replace(known, Arc::clone(set));
                old.supersede(Some(Arc::clone(set)));
                Ok(Some(old))
            }
            None if is_new => {
                sets.push(Arc::clone(set));
                Ok(None)
            }
            None => Err(Error::NoPattern { id: set.id }),
        }
    }

    /// The pattern of this number.
    ///
    /// # Errors
    ///
    /// [`Error::NoPattern`].
    pub(crate) fn find(&self, id: PatternId) -> Result<Arc<Set>, Error> {
        self.sets().iter().find(|set| set.id == id).cloned().ok_or(Error::NoPattern { id })
    }

    /// Takes the pattern of this number off the list.
    ///
    /// # Errors
    ///
    /// [`Error::NoPattern`].
    pub(crate) fn strike(&self, id: PatternId) -> Result<Arc<Set>, Error> {
        let mut sets = self.sets();
        let place = sets.iter().position(|set| set.id == id).ok_or(Error::NoPattern { id })?;
        let set = sets.remove(place);
        set.supersede(None);
        Ok(set)
    }

    /// Which processes it is about. Nothing panics under this lock.
    pub(crate) fn whose(&self) -> MutexGuard<'_, ProcessFilter> {
        self.whose.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who has held up its settings for longest. Nothing panics under this lock.
    pub(crate) fn held_up(&self) -> MutexGuard<'_, Option<HeldUp>> {
        self.held_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Events that its tracer was told, or that fired probes.
    pub(crate) fn delivered(&self) -> u64 {
        self.state.delivered.load(Ordering::Acquire) + self.fired.as_ref().map_or(0, Tally::read)
    }

    /// Whether its events fire probes.
    pub(crate) fn is_to_probes(&self) -> bool {
        self.fired.is_some()
    }

    /// Whether there is somebody to tell anything.
    pub(crate) fn is_heard(&self) -> bool {
        self.hears(Kind::Call) || self.hears(Kind::Return)
    }

    #[inline]
    fn hears(&self, kind: Kind) -> bool {
        self.fired.is_none() || told::is_heard(kind)
    }

    /// Tells what `told` makes, if there is somebody to tell and the limits allow it. Never waits.
    #[inline(always)]
    pub(crate) fn offer<'t>(&self, kind: Kind, told: impl FnOnce() -> Told<'t>) {
        if !self.hears(kind) || !self.state.admits() {
            return;
        }
        let told = told();
        match &self.fired {
            None => self.send(told.event()),
            Some(fired) => {
                told.fire();
                fired.count();
                if self.state.is_over() {
                    // It was the last one. If there is no room, this is said already.
                    let _ = self.events.try_send(None);
                }
            }
        }
    }

    fn send(&self, event: Event) {
        let counted = match self.events.try_send(Some(event)) {
            Ok(()) => &self.state.sent,
            Err(_) => &self.state.dropped,
        };
        // Release: who reads it after a join or the like finds the event sent.
        counted.fetch_add(1, Ordering::Release);
    }
}
