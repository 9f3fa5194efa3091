//! What a session's breakpoints have of their session: whether it goes on, and where its events go.

use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::Error;
use super::edit::Edit;
use super::event::{Event, Kind};
use super::held_up::HeldUp;
use super::libraries;
use super::process_flags::Whose;
use super::set::{PatternId, Set};
use super::setting::{Part, Setting};
use super::told::{self, Told};
use crate::clock;
use crate::forks;
use crate::thread_progress::Tally;

/// Bounds of a session, so that tracing cannot sink the program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// How many events wait for the tracer at most; more are dropped, and counted. Each takes about 800 bytes. None waits
    /// for those who look at the probes.
    pub waiting: usize,
    /// How many events there are in a second at most; more are dropped, and counted.
    pub per_second: Option<u32>,
    /// The session ends after so many events.
    pub events: Option<u64>,
    /// The session ends after this time.
    pub time: Option<Duration>,
}

impl Default for Limits {
    /// 1024 events wait; nothing else is bounded.
    fn default() -> Limits {
        Limits { waiting: 1024, per_second: None, events: None, time: None }
    }
}

pub(super) struct Shared {
    pub(super) state: Arc<State>,
    sets: Mutex<Vec<Arc<Set>>>,
    /// Read where entries are staged, so that of two changes the one that comes last finds it as it is by then.
    whose: Mutex<Whose>,
    /// The longest of those that have held up its settings.
    held_up: Mutex<Option<HeldUp>>,
    /// Events that have fired probes. `None` if they go to the session's tracer.
    fired: Option<Tally>,
    /// `None` says that the session is over. The session's thread ends when the last of these is gone.
    events: SyncSender<Option<Event>>,
}

/// The edit at all sites where the pattern may have breakpoints.
pub(super) fn everywhere(set: &Set, edit: impl Fn() -> Edit) -> Vec<Part> {
    let _settled = libraries::settled();
    set.sites().iter().map(|sites| (Arc::clone(sites), edit())).collect()
}

/// Where a session's events go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Destination {
    /// By the session's thread to its tracer.
    Tracer,
    /// On the calling thread to whoever looks at the probes.
    Probes,
}

/// What the tracer's thread has of the session, too.
pub(super) struct State {
    pub(super) limits: Limits,
    pub(super) begun: Instant,
    /// How often the process had been forked: a child has no thread for its parent's tracer.
    forks: u64,
    is_over: AtomicBool,
    drops_events: AtomicBool,
    /// The second since `begun` in the upper half, its events in the lower one.
    second: AtomicU64,
    admitted: AtomicU64,
    pub(super) sent: AtomicU64,
    pub(super) delivered: AtomicU64,
    /// Dropped because too many waited.
    pub(super) dropped: AtomicU64,
    /// Dropped because there were too many in a second.
    pub(super) limited: AtomicU64,
    /// Told by the tracer's thread when it has delivered all that was sent.
    pub(super) all_delivered: Notify,
}

impl Shared {
    pub(super) fn new(limits: Limits, to: Destination, events: SyncSender<Option<Event>>) -> Shared {
        let state = State {
            limits,
            begun: Instant::now(),
            forks: forks::so_far(),
            is_over: AtomicBool::new(false),
            drops_events: AtomicBool::new(false),
            second: AtomicU64::new(0),
            admitted: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            delivered: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            limited: AtomicU64::new(0),
            all_delivered: Notify::new(),
        };
        Shared {
            state: Arc::new(state),
            sets: Mutex::default(),
            whose: Mutex::default(),
            held_up: Mutex::default(),
            fired: (to == Destination::Probes).then(Tally::new),
            events,
        }
    }

    /// Its patterns. Nothing panics under this lock.
    pub(super) fn sets(&self) -> MutexGuard<'_, Vec<Arc<Set>>> {
        self.sets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a pattern on the list, in the place of the one that has its number; answers that one.
    ///
    /// # Errors
    ///
    /// [`Error::NoPattern`]: the number was given up, or has another pattern again.
    pub(super) fn enter(&self, set: &Arc<Set>, is_new: bool) -> Result<Option<Arc<Set>>, Error> {
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
    pub(super) fn find(&self, id: PatternId) -> Result<Arc<Set>, Error> {
        self.sets().iter().find(|set| set.id == id).cloned().ok_or(Error::NoPattern { id })
    }

    /// Takes the pattern of this number off the list.
    ///
    /// # Errors
    ///
    /// [`Error::NoPattern`].
    pub(super) fn strike(&self, id: PatternId) -> Result<Arc<Set>, Error> {
        let mut sets = self.sets();
        let place = sets.iter().position(|set| set.id == id).ok_or(Error::NoPattern { id })?;
        let set = sets.remove(place);
        set.supersede(None);
        Ok(set)
    }

    /// Which processes it is about. Nothing panics under this lock.
    pub(super) fn whose(&self) -> MutexGuard<'_, Whose> {
        self.whose.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who has held up its settings for longest. Nothing panics under this lock.
    pub(super) fn held_up(&self) -> MutexGuard<'_, Option<HeldUp>> {
        self.held_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the edits in force at their sites, and notes who held that up. Answers at how many sites an edit could not do what it
    /// is for.
    ///
    /// # Errors
    ///
    /// [`Error::InView`]: then it is changed nowhere, or everywhere in the background.
    pub(super) async fn change(&self, parts: Vec<Part>) -> Result<usize, Error> {
        // By then a call may want to know how long it took; and afterwards it is known better.
        clock::refine();
        let ended = Setting::new(parts).await;
        if ended.is_refused {
            return Err(Error::InView);
        }
        clock::refine();
        let held_up = ended.held_up.map(|late| HeldUp::until_now(&late));
        let mut longest = self.held_up();
        *longest = longest.take().into_iter().chain(held_up).max_by_key(|held_up| held_up.time);
        Ok(ended.left)
    }

    /// The edit at all sites where the session may have breakpoints.
    pub(super) fn everywhere(&self, edit: impl Fn() -> Edit) -> Vec<Part> {
        let sets = self.sets().clone();
        sets.iter().flat_map(|set| everywhere(set, &edit)).collect()
    }

    /// Events that its tracer was told, or that fired probes.
    pub(super) fn delivered(&self) -> u64 {
        self.state.delivered.load(Ordering::Acquire) + self.fired.as_ref().map_or(0, Tally::read)
    }

    /// Whether its events fire probes.
    pub(super) fn is_to_probes(&self) -> bool {
        self.fired.is_some()
    }

    /// Whether there is somebody to tell anything.
    pub(super) fn is_heard(&self) -> bool {
        self.hears(Kind::Call) || self.hears(Kind::Return)
    }

    #[inline]
    fn hears(&self, kind: Kind) -> bool {
        self.fired.is_none() || told::is_heard(kind)
    }

    /// Tells what `told` makes, if there is somebody to tell and the limits allow it. Never waits.
    #[inline(always)]
    pub(super) fn offer<'t>(&self, kind: Kind, told: impl FnOnce() -> Told<'t>) {
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

impl State {
    /// Whether nothing is traced any more.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.is_of_parent()
    }

    /// Whether the session was started before the fork that made this process.
    pub(super) fn is_of_parent(&self) -> bool {
        self.forks != forks::so_far()
    }

    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// What waits for the tracer is not delivered any more.
    pub(super) fn drop_events(&self) {
        self.drops_events.store(true, Ordering::Relaxed);
    }

    pub(super) fn drops_events(&self) -> bool {
        self.drops_events.load(Ordering::Relaxed)
    }

    fn admits(&self) -> bool {
        if self.is_over() {
            return false;
        }
        if self.limits.per_second.is_some_and(|most| !self.admits_in_second(most)) {
            self.limited.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        match self.limits.events {
            None => true,
            Some(most) => {
                let before = self.admitted.fetch_add(1, Ordering::Relaxed);
                if before + 1 >= most {
                    self.end();
                }
                before < most
            }
        }
    }

    fn admits_in_second(&self, most: u32) -> bool {
        let now = self.begun.elapsed().as_secs() << 32;
        let next = |word: u64| {
            let count = if word >> 32 == now >> 32 { word & u64::from(u32::MAX) } else { 0 };
            (count < u64::from(most)).then_some(now | (count + 1))
        };
        self.second.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok()
    }
}
