//! What a firing thread reads of a session: one slot for each session there can be, in static memory.
//!
//! A thread finds its ring of a session in a thread-local table without a destructor, so that its first event may come from
//! a signal handler. It belongs to the session of that *generation*: a session that comes later in the same slot has another.
//!
//! Taking a ring:
//!
//! 1. Take a prepared ring out of the slot, so that other threads look elsewhere.
//! 2. Make it one's own by its thread number. It fails if the maintenance thread had taken the ring, between 1 and 2, for one
//!    that nobody wants, had put it back, and another thread was quicker: try the next one.
//! 3. A handler may have come in between and have taken a ring for this thread: keep that one, give this one back. The
//!    maintenance thread finds rings that are neither owned nor in the slot.
//! 4. If no ring is prepared, threads come faster than the maintenance thread prepares rings. Go through the chain of all of the
//!    session's rings, and take one of a thread that has ended.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

use super::cause::CAUSES;
use super::descriptor::Descriptor;
use super::filter::{Judgement, Predicate};
use super::host;
use super::lost::LostCounter;
use super::payload::Payload;
use super::ring::Ring;
use super::ring_file::RingFile;
use super::wake;
use crate::forks::{Anew, Zeros};
use crate::thread_progress;

/// How many sessions there can be at once.
pub(super) const SESSIONS: usize = 32;

/// How many rings wait for threads at most.
pub(super) const PREPARED: usize = 32;

/// Fewer than this are too few: threads come faster than rings are made.
pub(super) const FEW: usize = 8;

pub(super) type ThreadRing = Ring<RingFile>;

/// For each probe, what its events must be like; by their ids.
pub(super) type Filters = Vec<Option<Predicate>>;

/// A forked child has none of its parent's sessions here, from its first instruction on: so it touches none of their rings,
/// which lie in its parent's files.
pub(super) static SLOTS: Anew<[Slot; SESSIONS]> = Anew::new([const { Slot::new() }; SESSIONS]);

// SAFETY: atomics only.
unsafe impl Zeros for Slot {}

/// Pointers in a slot are good for threads that were pinned when they read the session's bit.
pub(super) struct Slot {
    /// The session's own number; 0 while there is none.
    pub generation: AtomicU32,
    /// Null if every event passes.
    pub filters: AtomicPtr<Filters>,
    pub prepared: [AtomicPtr<ThreadRing>; PREPARED],
    /// The chain of all rings of the session, the newest first.
    rings: AtomicPtr<ThreadRing>,
    /// Counts the events of threads that found no ring, and those above the rate that was asked for.
    pub ringless: AtomicPtr<LostCounter>,
    pub above_rate: AtomicPtr<LostCounter>,
    /// More cycles than this are too many for an operation, where the session is to be told of such.
    pub slower: AtomicU64,
    /// For each cause of a snapshot, how often it was there, and how often that has been dealt with. Both go on from one
    /// session to the next.
    pub requests: [AtomicU64; CAUSES],
    pub answered: [AtomicU64; CAUSES],
}

#[derive(Clone, Copy)]
struct Own {
    generation: u32,
    ring: *const ThreadRing,
}

thread_local! {
    static OWN: [Cell<Own>; SESSIONS] =
        const { [const { Cell::new(Own { generation: 0, ring: ptr::null() }) }; SESSIONS] };
}

impl Descriptor {
    /// Gives a firing to every session that records the probe. For generated code.
    #[doc(hidden)]
    #[inline]
    pub fn record<P: Payload>(&self, payload: impl FnOnce() -> P) {
        // Without memory for the thread's record nothing can be read safely; the bits stay set, so later firings try again.
        let Some(_pin) = thread_progress::pin() else { return };
        // Acquire: with `set_session`'s Release. Behind the pin: a session that is seen now stays until it ends.
        let mut sessions = self.sessions_acquired();
        while sessions != 0 {
            let number = sessions.trailing_zeros() as usize;
            sessions &= sessions - 1;
            match SLOTS[number].ready(number) {
                // An event that will be dropped is not even looked at.
                Some(ring) if ring.space().is_at_end() => ring.discard_at_end(),
                ready => return self.record_in(ready, number, sessions, &payload()),
            }
        }
    }

    /// In the session's ring, if that is ready, and in the sessions that are left.
    #[inline(always)]
    fn record_in(&self, ready: Option<&ThreadRing>, number: usize, mut sessions: u32, payload: &impl Payload) {
        match ready {
            Some(ring) => ring.record(self.id(), payload),
            None => SLOTS[number].record(number, self.id(), payload),
        }
        while sessions != 0 {
            let number = sessions.trailing_zeros() as usize;
            sessions &= sessions - 1;
            SLOTS[number].record(number, self.id(), payload);
        }
    }
}

impl Slot {
    const fn new() -> Slot {
        Slot {
            generation: AtomicU32::new(0),
            filters: AtomicPtr::new(ptr::null_mut()),
            prepared: [const { AtomicPtr::new(ptr::null_mut()) }; PREPARED],
            rings: AtomicPtr::new(ptr::null_mut()),
            ringless: AtomicPtr::new(ptr::null_mut()),
            above_rate: AtomicPtr::new(ptr::null_mut()),
            slower: AtomicU64::new(0),
            requests: [const { AtomicU64::new(0) }; CAUSES],
            answered: [const { AtomicU64::new(0) }; CAUSES],
        }
    }

    /// This thread's ring, if it has one already and there is no filter: nothing has to be asked.
    #[inline(always)]
    fn ready(&self, number: usize) -> Option<&ThreadRing> {
        let own = OWN.with(|own| own[number].get());
        // Acquire: with the Release of the session's start, and of who sets a filter.
        if own.generation != self.generation.load(Acquire) || !self.filters.load(Acquire).is_null() {
            return None;
        }
        // SAFETY: as in `record`.
        unsafe { own.ring.as_ref() }
    }

    #[inline(never)]
    pub(super) fn record(&self, number: usize, id: u16, payload: &impl Payload) {
        // Acquire: with the Release of the session's start.
        let generation = self.generation.load(Acquire);
        if !self.wants(number, id, payload) {
            return;
        }
        let own = OWN.with(|own| own[number].get());
        let ring = if own.generation == generation { own.ring } else { self.take(number, generation) };
        // SAFETY: null, or a ring of this generation's session, which frees it after it has cleared its bits and waited for
        // all who were pinned: this thread is, and has seen the bit.
        match unsafe { ring.as_ref() } {
            Some(ring) => ring.record(id, payload),
            None => self.record_without(number, id, payload),
        }
    }

    /// Where there is no ring.
    #[cold]
    fn record_without(&self, number: usize, id: u16, payload: &impl Payload) {
        match host::HOST.get() {
            // A guest's threads find no ring here, whatever the session: its slots are never filled.
            Some(host) => (host.record)(number, id, payload),
            None => self.count(&self.ringless),
        }
    }

    /// Counts one event more in one of the slot's counts.
    fn count(&self, count: &AtomicPtr<LostCounter>) {
        // Acquire: with the Release of the session's start.
        // SAFETY: null, or the session's, which frees it as it frees its rings.
        if let Some(count) = unsafe { count.load(Acquire).as_ref() } {
            count.add_one();
        }
    }

    /// Whether the session, which is that of this number, records such an event of the probe with that id.
    #[inline]
    pub fn wants(&self, number: usize, id: u16, payload: &impl Payload) -> bool {
        // Acquire: with the Release of who sets a filter.
        let filters = self.filters.load(Acquire);
        filters.is_null() || self.passes(filters, number, id, payload)
    }

    #[cold]
    fn passes(&self, filters: *const Filters, number: usize, id: u16, payload: &impl Payload) -> bool {
        // SAFETY: not null, and freed like rings are, after a wait for all who were pinned.
        match unsafe { &*filters }.get(usize::from(id)) {
            Some(Some(predicate)) => match predicate.judge(number, payload) {
                Judgement::Passes => true,
                Judgement::IsOther => false,
                Judgement::IsAboveRate => {
                    self.count(&self.above_rate);
                    false
                }
            },
            _ => true,
        }
    }

    /// Null if there is none.
    #[cold]
    fn take(&self, number: usize, generation: u32) -> *const ThreadRing {
        if generation == 0 {
            return ptr::null();
        }
        let thread = u64::from(thread_progress::os::thread_id());
        let Some(ring) = self.take_prepared(thread).or_else(|| self.take_from_ended(thread)) else {
            return ptr::null();
        };
        OWN.with(|own| {
            // 3.
            let there = own[number].get();
            if there.generation == generation {
                ring.abandon(thread);
                return there.ring;
            }
            own[number].set(Own { generation, ring });
            ptr::from_ref(ring)
        })
    }

    fn take_prepared(&self, thread: u64) -> Option<&ThreadRing> {
        self.prepared.iter().find_map(|prepared| {
            if prepared.load(Relaxed).is_null() {
                return None;
            }
            // 1. Acquire: with `offer`'s Release.
            let pointer = prepared.swap(ptr::null_mut(), AcqRel);
            // SAFETY: null, or a ring of this session, as in `record`.
            let ring = unsafe { pointer.as_ref() }?;
            if self.waiting() < FEW {
                wake::wake();
            }
            // 2.
            ring.adopt(thread).then_some(ring)
        })
    }

    /// 4.
    fn take_from_ended(&self, thread: u64) -> Option<&ThreadRing> {
        // Acquire: with the Release of `chain`.
        let mut next = self.rings.load(Acquire);
        // SAFETY: null, or a ring of this session, as in `record`.
        while let Some(ring) = unsafe { next.as_ref() } {
            let owner = ring.thread();
            // A ring that already bears this thread's number is being taken by the code that this signal handler interrupted.
            let has_ended = owner == 0 || (owner != thread && thread_progress::has_ended(owner as u32));
            if has_ended && ring.space().may_hold(ring.position()) && ring.adopt_from(owner, thread) {
                return Some(ring);
            }
            next = ring.next();
        }
        None
    }

    /// Adds a new ring to the chain. Only the maintenance thread does that.
    pub fn chain(&self, ring: &ThreadRing) {
        ring.chain(self.rings.load(Relaxed));
        // Release: a thread that finds the ring finds it whole.
        self.rings.store(ptr::from_ref(ring).cast_mut(), Release);
    }

    /// Puts a ring where threads find it. `false` if there are enough.
    pub fn offer(&self, ring: &ThreadRing) -> bool {
        let ring = ptr::from_ref(ring).cast_mut();
        let free = |prepared: &AtomicPtr<ThreadRing>| {
            prepared.compare_exchange(ptr::null_mut(), ring, Release, Relaxed).is_ok()
        };
        self.prepared.iter().any(free)
    }

    pub fn offers(&self, ring: &ThreadRing) -> bool {
        self.prepared.iter().any(|prepared| ptr::eq(prepared.load(Relaxed), ring))
    }

    /// How many rings wait for threads.
    pub fn waiting(&self) -> usize {
        self.prepared.iter().filter(|prepared| !prepared.load(Relaxed).is_null()).count()
    }

    /// After the wait that follows the end of the session: nobody reads the slot.
    pub fn clear(&self) {
        for prepared in &self.prepared {
            prepared.store(ptr::null_mut(), Relaxed);
        }
        self.rings.store(ptr::null_mut(), Relaxed);
        self.ringless.store(ptr::null_mut(), Relaxed);
        self.above_rate.store(ptr::null_mut(), Relaxed);
    }
}

/// Where the calling thread's ring of a session lies, and how many bytes; `(0, 0)` if it has none. The thread is pinned.
pub(super) fn own_mapping(number: usize) -> (usize, usize) {
    let own = OWN.with(|own| own[number].get());
    if own.generation == 0 || own.generation != SLOTS[number].generation.load(Acquire) {
        return (0, 0);
    }
    // SAFETY: as in `record`: a ring of the session that is there, seen by a pinned thread.
    let file = unsafe { own.ring.as_ref() }.map(|ring| ring.space().file());
    file.map_or((0, 0), |file| (file.base().addr(), file.limit() as usize))
}
