//! The data of sessions that firing threads read: one slot for each possible session, in static memory.
//!
//! A thread finds its ring of a session in a thread-local table without a destructor, so that its first event may come from a signal
//! handler. The entry is valid for one *generation*: a later session in the same slot has another.
//!
//! Taking a ring:
//!
//! 1. Remove a prepared ring from the slot, so that other threads look elsewhere.
//! 2. Store the thread's number in it. That fails if, since 1, the maintenance thread took the ring for an unused one and put it back,
//!    and another thread was quicker: try the next one.
//! 3. If a signal handler has taken a ring for this thread meanwhile, keep that one and release this one. The maintenance thread finds
//!    rings that are neither owned nor in the slot.
//! 4. If no ring is prepared, threads start faster than the maintenance thread prepares rings. Walk the chain of the session's rings, and
//!    take one of a thread that has ended.
//! 5. If there is none, as on a full disk, the thread's events are only counted until the maintenance thread has looked after the rings
//!    again. Otherwise each event would walk all rings, and ask the system about each.

use std::cell::Cell;
use std::hint::black_box;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

use super::cause::CAUSES;
use super::descriptor::Descriptor;
use super::host::{self, DynPayload};
use super::lost::LostCounter;
use super::payload::Payload;
#[cfg(recorded)]
use super::payload::Timed;
use super::ring::Ring;
use super::ring_file::RingFile;
use super::stream_file::StreamFile;
use super::wake;
use crate::forks::ZeroedByFork;
use crate::thread_progress::Zeros;
use crate::thread_progress::{self, Pin};

/// The most sessions at a time.
pub const SESSIONS: usize = 32;

/// The most rings that wait for threads.
pub const PREPARED: usize = 256;

/// With fewer waiting rings than this, the maintenance thread is woken.
pub const FEW: usize = 8;

pub type ThreadRing = Ring<RingFile>;

/// The filter of each class of events, by id.
pub type Filters = Vec<Option<Box<dyn Condition>>>;

/// A condition that an event has to meet to be recorded.
pub trait Condition: Send + Sync {
    /// Whether the session records the event. Called while a probe fires: takes no lock and no memory.
    fn verdict(&self, session: usize, payload: &dyn DynPayload) -> Verdict;
}

/// The verdict of a filter on an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passes,
    /// A condition is not met.
    Rejected,
    /// The conditions are met, but the rate is exceeded in this second.
    AboveRate,
}

/// Zeroed in a forked child from its first instruction on, so that it never writes into its parent's files.
pub static SLOTS: ZeroedByFork<[Slot; SESSIONS]> = ZeroedByFork::new([const { Slot::new() }; SESSIONS]);

// SAFETY: atomics only.
unsafe impl Zeros for Slot {}

/// Pointers in a slot are valid for threads that were pinned when they read the session's bit.
pub struct Slot {
    /// The session's number; 0 for none.
    pub generation: AtomicU32,
    /// How often the maintenance thread has looked after the rings.
    pub round: AtomicU32,
    /// Null if the session has no filter.
    pub filters: AtomicPtr<Filters>,
    pub prepared: [AtomicPtr<ThreadRing>; PREPARED],
    /// The chain of the session's rings, newest first.
    rings: AtomicPtr<ThreadRing>,
    /// Counts events of threads that found no ring.
    pub ringless: AtomicPtr<LostCounter>,
    /// Counts events above the filter's rate.
    pub above_rate: AtomicPtr<LostCounter>,
    /// An operation of more cycles than this is slow, if the session subscribes to slow operations.
    pub slower: AtomicU64,
    /// Requests for snapshots, by cause. Never reset, like `handled`.
    pub requests: [AtomicU64; CAUSES],
    /// How many of those were handled.
    pub handled: [AtomicU64; CAUSES],
}

#[derive(Clone, Copy)]
struct OwnRing {
    generation: u32,
    /// For a null ring: the slot's round when the thread found no ring.
    round: u32,
    ring: *const ThreadRing,
}

impl OwnRing {
    const NONE: OwnRing = OwnRing { generation: 0, round: 0, ring: ptr::null() };
}

thread_local! {
    static OWN_RINGS: [Cell<OwnRing>; SESSIONS] =
        const { [const { Cell::new(OwnRing::NONE) }; SESSIONS] };
}

/// A firing of a probe that sessions record, until its arguments are there.
#[doc(hidden)]
pub struct Firing<'d> {
    probe: &'d Descriptor,
    sessions: u32,
    /// The ring that alone gets the firing, if it is at hand. It stays while the thread is pinned.
    ready: Option<&'static ThreadRing>,
    _pin: Pin,
}

impl Firing<'_> {
    /// Gives the firing to every session that records the probe.
    #[inline(always)]
    pub fn record(self, payload: impl Payload) {
        match self.ready {
            Some(ring) => ring.record(self.probe.id(), payload),
            // A copy for the call, as in `Ring::record`.
            None => self.probe.record_in_each(self.sessions, black_box(payload)),
        }
    }
}

impl Descriptor {
    /// Begins a firing of the probe. `None` if no session gets it: then its arguments need not be made. For generated code, which makes
    /// them in registers, as no closure lies between.
    ///
    /// # Safety
    ///
    /// The thread begins no other firing before this one is recorded or dropped.
    #[doc(hidden)]
    #[inline]
    pub unsafe fn firing(&self) -> Option<Firing<'_>> {
        // SAFETY: as the caller promises.
        unsafe { self.begin() }
    }

    /// See [`firing`](Self::firing). Inlined at dyntrace's own call sites, of which there are few: half of a call's cost is that of saving
    /// registers and of passing the result in memory.
    ///
    /// # Safety
    ///
    /// As for [`firing`](Self::firing).
    #[inline(always)]
    unsafe fn begin(&self) -> Option<Firing<'_>> {
        // No memory for the thread's record: drop the event. The bits stay set, so later firings try again.
        let _pin = thread_progress::pin()?;
        // Acquire: with `set_session`'s Release. After the pin: a session seen now stays until the thread is unpinned.
        let sessions = self.sessions_acquired();
        if sessions == 0 {
            return None;
        }
        let first = sessions.trailing_zeros() as usize;
        let ready = SLOTS[first].ready(first).filter(|_| sessions.is_power_of_two());
        if let Some(ring) = ready
            && ring.space().is_at_end()
        {
            ring.discard_at_end();
            return None;
        }
        Some(Firing { probe: self, sessions, ready, _pin })
    }

    /// Records a firing at a call site that knows the kinds of its arguments. `time`: the clock's time of the firing, if the caller has
    /// read it.
    #[cfg(recorded)]
    #[inline(always)]
    pub fn record_here(&self, time: Option<u64>, arguments: impl Payload) {
        // SAFETY: recorded at once.
        if let Some(firing) = unsafe { self.begin() } {
            firing.record(Timed { arguments, time });
        }
    }

    /// Records a firing of this probe and one of `next` at the same time, if one session alone records both and they are common, see
    /// [`Ring::record_both`]. Returns `false` if it has recorded neither.
    #[cfg(recorded)]
    #[inline(always)]
    pub fn record_both_here(
        &self,
        time: Option<u64>,
        arguments: impl Payload,
        next: &Descriptor,
        next_arguments: impl Payload,
    ) -> bool {
        let Some(_pin) = thread_progress::pin_again() else { return false };
        // Acquire: as in `begin`.
        let sessions = self.sessions_acquired();
        if next.sessions_acquired() != sessions || !sessions.is_power_of_two() {
            return false;
        }
        let number = sessions.trailing_zeros() as usize;
        match SLOTS[number].ready(number) {
            Some(ring) if !ring.space().is_at_end() => {
                ring.record_both((self.id(), Timed { arguments, time }), (next.id(), next_arguments))
            }
            _ => false,
        }
    }

    /// Counts a firing as discarded, and returns `true`, if one session records it and this thread's ring of that is at its end. With
    /// several sessions [`firing`](Self::firing) decides for each. For generated code.
    #[doc(hidden)]
    #[inline(always)]
    pub fn discard(&self) -> bool {
        let Some(_pin) = thread_progress::pin_again() else { return false };
        // Acquire: as in `begin`.
        let sessions = self.sessions_acquired();
        // A call site that the table of tasks keeps does more than make arguments.
        if !sessions.is_power_of_two() || self.is_kept() {
            return false;
        }
        let number = sessions.trailing_zeros() as usize;
        match SLOTS[number].ready(number) {
            Some(ring) if ring.space().is_at_end() => {
                ring.discard_at_end();
                true
            }
            _ => false,
        }
    }

    /// Records in several sessions, or in one whose ring is not ready. By value: so the payload need not be in memory for other firings.
    #[cold]
    #[inline(never)]
    fn record_in_each(&self, mut sessions: u32, payload: impl Payload) {
        while sessions != 0 {
            let number = sessions.trailing_zeros() as usize;
            sessions &= sessions - 1;
            SLOTS[number].record(number, self.id(), &payload);
        }
    }
}

impl Slot {
    const fn new() -> Slot {
        Slot {
            generation: AtomicU32::new(0),
            round: AtomicU32::new(0),
            filters: AtomicPtr::new(ptr::null_mut()),
            prepared: [const { AtomicPtr::new(ptr::null_mut()) }; PREPARED],
            rings: AtomicPtr::new(ptr::null_mut()),
            ringless: AtomicPtr::new(ptr::null_mut()),
            above_rate: AtomicPtr::new(ptr::null_mut()),
            slower: AtomicU64::new(0),
            requests: [const { AtomicU64::new(0) }; CAUSES],
            handled: [const { AtomicU64::new(0) }; CAUSES],
        }
    }

    /// This thread's ring, if it has one and the session has no filter.
    #[inline(always)]
    fn ready(&self, number: usize) -> Option<&ThreadRing> {
        // `with` would be a call of its own here.
        let own = OWN_RINGS.try_with(|own| own[number].get()).ok()?;
        // Acquire: with the Release of the session's start, and of `set_filter`.
        if own.generation != self.generation.load(Acquire) || !self.filters.load(Acquire).is_null() {
            return None;
        }
        // SAFETY: as in `record`.
        unsafe { own.ring.as_ref() }
    }

    #[inline]
    pub fn record(&self, number: usize, id: u16, payload: &impl Payload) {
        // Acquire: with the Release of the session's start.
        let generation = self.generation.load(Acquire);
        if !self.wants(number, id, payload) {
            return;
        }
        let own = OWN_RINGS.with(|own| own[number].get());
        // Relaxed: the round orders nothing.
        let is_settled = !own.ring.is_null() || own.round == self.round.load(Relaxed);
        let ring = if own.generation == generation && is_settled { own.ring } else { self.take(number, generation) };
        // SAFETY: null, or a ring of this generation's session, which frees it after it has cleared its bits and waited for
        // pinned threads. This thread is pinned, and has seen the bit.
        match unsafe { ring.as_ref() } {
            Some(ring) => ring.record(id, *payload),
            None => self.record_without(number, id, payload),
        }
    }

    /// Records without a ring: in the host, or as a count.
    #[cold]
    fn record_without(&self, number: usize, id: u16, payload: &impl Payload) {
        match host::HOST.get() {
            // A guest's slots are never filled.
            Some(host) => (host.record)(number, id, payload),
            None => self.count(&self.ringless),
        }
    }

    /// Adds 1 to one of the slot's counters.
    #[inline]
    fn count(&self, counter: &AtomicPtr<LostCounter>) {
        // Acquire: with the Release of the session's start.
        // SAFETY: null, or the session's, which frees it as it frees its rings.
        if let Some(counter) = unsafe { counter.load(Acquire).as_ref() } {
            counter.add_one();
        }
    }

    /// Whether the session, in slot `number`, records this event of the probe with that id.
    #[inline]
    pub fn wants(&self, number: usize, id: u16, payload: &impl Payload) -> bool {
        // Acquire: with the Release of `set_filter`.
        let filters = self.filters.load(Acquire);
        filters.is_null() || self.passes(filters, number, id, payload)
    }

    #[cold]
    fn passes(&self, filters: *const Filters, number: usize, id: u16, payload: &impl Payload) -> bool {
        // SAFETY: not null, and freed as rings are, after a wait for pinned threads.
        match unsafe { &*filters }.get(usize::from(id)) {
            Some(Some(condition)) => match condition.verdict(number, payload) {
                Verdict::Passes => true,
                Verdict::Rejected => false,
                Verdict::AboveRate => {
                    self.count(&self.above_rate);
                    false
                }
            },
            _ => true,
        }
    }

    /// Takes a ring for this thread; null if there is none.
    #[cold]
    fn take(&self, number: usize, generation: u32) -> *const ThreadRing {
        if generation == 0 {
            return ptr::null();
        }
        let thread = u64::from(thread_progress::os::thread_id());
        // Before the search: a ring that is prepared meanwhile is found in the next round.
        let round = self.round.load(Relaxed);
        let found = self.take_prepared(thread).or_else(|| self.take_from_ended(thread));
        OWN_RINGS.with(|own| {
            // 3.
            let there = own[number].get();
            if there.generation == generation && !there.ring.is_null() {
                found.inspect(|ring| _ = ring.abandon(thread));
                return there.ring;
            }
            // 5.
            let ring = found.map_or(ptr::null(), ptr::from_ref);
            own[number].set(OwnRing { generation, round, ring });
            ring
        })
    }

    fn take_prepared(&self, thread: u64) -> Option<&ThreadRing> {
        self.prepared.iter().find_map(|prepared| {
            if prepared.load(Relaxed).is_null() {
                return None;
            }
            // 1. Acquire: with `offer`'s Release. Null tells other threads of nothing.
            let pointer = prepared.swap(ptr::null_mut(), Acquire);
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
            // A ring with this thread's number is being taken by the code that this signal handler interrupted.
            let has_ended = owner == 0 || (owner != thread && thread_progress::has_ended(owner as u32));
            if has_ended && ring.space().may_hold(ring.position()) && ring.adopt_from(owner, thread) {
                return Some(ring);
            }
            next = ring.next();
        }
        None
    }

    /// Adds a new ring to the chain. Only the maintenance thread calls it.
    pub fn chain(&self, ring: &ThreadRing) {
        ring.chain(self.rings.load(Relaxed));
        // Release: with `take_from_ended`.
        self.rings.store(ptr::from_ref(ring).cast_mut(), Release);
    }

    /// Adds a ring to the prepared ones. Returns `false` if there are enough.
    pub fn offer(&self, ring: &ThreadRing) -> bool {
        let ring = ptr::from_ref(ring).cast_mut();
        let free = |prepared: &AtomicPtr<ThreadRing>| {
            prepared.compare_exchange(ptr::null_mut(), ring, Release, Relaxed).is_ok()
        };
        self.prepared.iter().any(free)
    }

    /// Whether the ring is one of the prepared ones.
    #[inline]
    pub fn offers(&self, ring: &ThreadRing) -> bool {
        self.prepared.iter().any(|prepared| ptr::eq(prepared.load(Relaxed), ring))
    }

    /// The number of prepared rings.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.prepared.iter().filter(|prepared| !prepared.load(Relaxed).is_null()).count()
    }

    /// Empties the slot, after the wait that ends a session: no thread reads it then.
    pub fn clear(&self) {
        for prepared in &self.prepared {
            prepared.store(ptr::null_mut(), Relaxed);
        }
        self.rings.store(ptr::null_mut(), Relaxed);
        self.ringless.store(ptr::null_mut(), Relaxed);
        self.above_rate.store(ptr::null_mut(), Relaxed);
    }
}

/// The file of the calling thread's ring of a session; null if it has none. The thread is pinned.
pub fn own_file(number: usize) -> *const StreamFile {
    let own = OWN_RINGS.with(|own| own[number].get());
    if own.generation == 0 || own.generation != SLOTS[number].generation.load(Acquire) {
        return ptr::null();
    }
    // SAFETY: as in `record`: a ring of the present session, read by a pinned thread.
    let file = unsafe { own.ring.as_ref() }.map(|ring| ring.space().file());
    file.map_or(ptr::null(), ptr::from_ref)
}
