//! Counts of calls and of their time. Each thread adds in a table of its own; a reader sums over the tables.
//!
//! One thread writes a table, and no table is freed: a new thread goes on in the table of a thread that has ended, so that no count is
//! lost. A counter's slot may have belonged to another counter: it subtracts the sum that it found there. A reset does the same.
//!
//! A timed call that keeps only the number of the slot may outlive the counter. So each table also counts the timed calls that are
//! running, and a slot is reused when there are none:
//!
//! 1. A call begins pinned, under an entry with the counter: it adds 1. A counter is dropped after a wait for thread progress: all
//!    these calls are counted then, and from then on their number only falls.
//! 2. The call ends: it adds its time, and subtracts 1.
//! 3. A new counter takes a slot whose numbers, summed over the tables, are 0: so it finds all times added.

use std::cell::Cell;
use std::collections::VecDeque;
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering, fence};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use dyntrace_probes::forks::hold_across_forks;
use dyntrace_probes::primitives::one_writer::{add, own, step};
use dyntrace_probes::thread_progress::{PerRecord, Zeros, map_at};

use super::host::HOST;
use super::own_memory::Bytes;
use crate::breakpoint::error::Error;

/// The number of slots.
const MOST: usize = 1 << 17;

/// The most free slots of which a new counter asks whether a call is running, as long as there are unused ones.
const LOOKS: usize = 8;

/// The counts of one function for one pattern.
#[derive(Debug)]
pub(crate) struct Counter {
    slot: CounterSlot,
    /// A second slot, which counts bytes as the first counts times, if a pattern asks for memory. Other counters need no space for it.
    memory: OnceLock<CounterSlot>,
    /// The sum when this counter began, or at its last reset.
    before: Mutex<Counts>,
}

/// The place of a counter in each thread's table: bytes from its beginning to the cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CounterSlot(usize);

/// Numbers of calls, and times in cycles of the [clock](dyntrace_probes::clock).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) calls: u64,
    pub(crate) time: u64,
    /// The time without that of timed calls inside these calls.
    pub(crate) own: u64,
    /// The allocated memory, if it is measured.
    pub(crate) memory: Option<Bytes>,
}

struct Cells {
    calls: AtomicU64,
    time: AtomicU64,
    own: AtomicU64,
    /// The number of timed calls that have begun here, without those that have ended here.
    running: AtomicU64,
}

// SAFETY: atomics.
unsafe impl Zeros for Cells {}

/// One thread's table: four megabytes of addresses; only the pages in use take memory.
type Table = [Cells; MOST];

struct Slots {
    /// Slots of dropped counters. Those where a call was running at the last look are in front, the next one to reuse is at the back.
    free: VecDeque<CounterSlot>,
    given: usize,
}

static SLOTS: Mutex<Slots> = Mutex::new(Slots { free: VecDeque::new(), given: 0 });

/// The table of each thread; null before its first counted call.
static TABLES: PerRecord<AtomicPtr<Table>> = PerRecord::new();

/// For threads that find no memory for their own.
static OF_ALL: Table = [const {
    Cells { calls: AtomicU64::new(0), time: AtomicU64::new(0), own: AtomicU64::new(0), running: AtomicU64::new(0) }
}; MOST];

thread_local! {
    static OWN: Cell<Option<&'static Table>> = const { Cell::new(None) };
}

/// No code panics under this lock.
fn slots() -> MutexGuard<'static, Slots> {
    SLOTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has forked children find the lock free. Callers that take it under another lock held across forks call this first, so that a fork takes
/// the locks in the same order.
pub(crate) fn prepare() {
    hold_across_forks!(Slots, slots());
}

impl Counter {
    pub(crate) fn new() -> Result<Counter, Error> {
        prepare();
        let slot = slots().take()?;
        Ok(Counter { slot, memory: OnceLock::new(), before: Mutex::new(slot.sum()) })
    }

    pub(crate) fn measure_memory(&self) -> Result<(), Error> {
        let mut before = self.before();
        if self.memory.get().is_none() {
            let slot = slots().take()?;
            before.memory = Some(slot.sum().bytes());
            self.memory.get_or_init(|| slot);
        }
        Ok(())
    }

    pub(crate) fn slot(&self) -> CounterSlot {
        self.slot
    }

    pub(crate) fn add_memory(&self, bytes: Bytes) {
        if let Some(slot) = self.memory.get() {
            slot.add_time(bytes.all, bytes.own);
        }
    }

    fn sum(&self) -> Counts {
        Counts { memory: self.memory.get().map(|slot| slot.sum().bytes()), ..self.slot.sum() }
    }

    /// Returns the counts so far. They include every call that happens before, for example by a join.
    pub(crate) fn read(&self) -> Counts {
        let before = self.before();
        self.sum().since(*before)
    }

    /// Returns the counts and resets them. Each call is in exactly one result. The counting threads do not take part.
    pub(crate) fn take(&self) -> Counts {
        let mut before = self.before();
        let now = self.sum();
        now.since(mem::replace(&mut before, now))
    }

    /// Held while the slot is read, so that a later reader's sum is at least that of an earlier reset.
    fn before(&self) -> MutexGuard<'_, Counts> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn since(self, before: Counts) -> Counts {
        Counts {
            calls: self.calls.wrapping_sub(before.calls),
            time: self.time.wrapping_sub(before.time),
            own: self.own.wrapping_sub(before.own),
            memory: self.memory.map(|memory| memory.since(before.memory.unwrap_or_default())),
        }
    }

    /// Converts the counts of a slot that counts bytes.
    fn bytes(self) -> Bytes {
        Bytes { all: self.time, own: self.own }
    }
}

impl CounterSlot {
    /// Returns the slot with this number, which is below [`MOST`]. A module passes the number to its host.
    pub(crate) fn numbered(number: usize) -> CounterSlot {
        CounterSlot(number % MOST * size_of::<Cells>())
    }

    fn number(self) -> usize {
        self.0 / size_of::<Cells>()
    }

    #[inline(always)]
    fn of(self, table: &Table) -> &Cells {
        // SAFETY: `numbered`, of which all slots are, has cells there.
        unsafe { &*ptr::from_ref(table).cast::<Cells>().byte_add(self.0) }
    }

    /// Counts a call.
    #[inline]
    pub(crate) fn count(self) {
        if !self.count_again() {
            self.add_first(1, 0, 0, 0);
        }
    }

    /// Counts a call. Unless `most` of the thread run here already, it [ends](CounterSlot::end) here: then returns true. The thread is
    /// pinned, so that the counter lives.
    #[inline]
    pub(crate) fn begin(self, most: u64) -> bool {
        let Some(table) = OWN.get() else {
            self.add_first(1, 0, 0, 1);
            return true;
        };
        let begins = self.begin_again(most);
        if !begins {
            step::<1>(&self.of(table).calls);
        }
        begins
    }

    /// Counts a call if this thread has a table. Returns whether it has.
    #[inline(always)]
    pub(crate) fn count_again(self) -> bool {
        OWN.get().map(|table| step::<1>(&self.of(table).calls)).is_some()
    }

    /// [Begins](CounterSlot::begin) if this thread has a table, and fewer than `most` of its calls run here. Else does nothing, and returns
    /// false.
    #[inline(always)]
    pub(crate) fn begin_again(self, most: u64) -> bool {
        let Some(table) = OWN.get() else { return false };
        let cells = self.of(table);
        // SAFETY: the cells are in this thread's table, which no other thread writes.
        if unsafe { own(&cells.running) } >= most {
            return false;
        }
        step::<1>(&cells.calls);
        step::<1>(&cells.running);
        true
    }

    /// Ends a call that has begun here: adds its time and its own time.
    #[inline]
    pub(crate) fn end(self, time: u64, own: u64) {
        match OWN.get().map(|table| self.of(table)) {
            Some(cells) => {
                add(&cells.time, time);
                add(&cells.own, own);
                // A thread that finds the call ended finds its time. Partner: `Tables::is_idle`.
                fence(Ordering::Release);
                step::<-1>(&cells.running);
            }
            None => self.add_first(0, time, own, ONE_LESS),
        }
    }

    /// Adds the time and the own time of a counted call whose counter lives, or its memory and own memory.
    #[inline]
    pub(crate) fn add_time(self, time: u64, own: u64) {
        match OWN.get().map(|table| self.of(table)) {
            Some(cells) => {
                add(&cells.time, time);
                add(&cells.own, own);
            }
            None => self.add_first(0, time, own, 0),
        }
    }

    /// Adds on a thread that has no table yet.
    #[cold]
    #[inline(never)]
    fn add_first(self, calls: u64, time: u64, own: u64, running: u64) {
        // A module counts no calls of its own: it ends one that its host has begun.
        if let Some(host) = HOST.get() {
            return (host.end)(self.number(), time, own);
        }
        let cells = self.of(own_table().unwrap_or(&OF_ALL));
        cells.calls.fetch_add(calls, Ordering::Relaxed);
        cells.time.fetch_add(time, Ordering::Relaxed);
        cells.own.fetch_add(own, Ordering::Relaxed);
        // Release: as in `end`.
        cells.running.fetch_add(running, Ordering::Release);
    }
}

/// Added to a number, it subtracts 1.
const ONE_LESS: u64 = u64::MAX;

impl Drop for Counter {
    fn drop(&mut self) {
        slots().free.extend([self.slot].into_iter().chain(self.memory.take()));
    }
}

fn own_table() -> Option<&'static Table> {
    let own = TABLES.own()?;
    // SAFETY: null, or a table, which is never freed. Acquire: pairs with `map_at`.
    let table = unsafe { own.load(Ordering::Acquire).cast_const().as_ref() }.or_else(|| map_at(own))?;
    OWN.set(Some(table));
    Some(table)
}

fn tables() -> impl Iterator<Item = &'static Table> {
    // SAFETY: as in `own_table`.
    let of_threads = TABLES.all().filter_map(|table| unsafe { table.load(Ordering::Acquire).cast_const().as_ref() });
    of_threads.chain([&OF_ALL])
}

impl Slots {
    /// Returns a slot where no call is running.
    fn take(&mut self) -> Result<CounterSlot, Error> {
        let looks = if self.given == MOST { MOST } else { LOOKS };
        for _ in 0..looks.min(self.free.len()) {
            let Some(slot) = self.free.pop_back() else { break };
            if slot.is_idle() {
                return Ok(slot);
            }
            self.free.push_front(slot);
        }
        if self.given == MOST {
            return Err(Error::TooManyCounters { most: MOST });
        }
        self.given += 1;
        Ok(CounterSlot::numbered(self.given - 1))
    }
}

impl CounterSlot {
    /// Returns whether no call is running in the slot of a dropped counter. In a forked child, calls of threads that only its parent has
    /// run for ever.
    fn is_idle(self) -> bool {
        // Acquire: partner is `CounterSlot::end`.
        let running = tables().map(|table| self.of(table).running.load(Ordering::Acquire));
        running.fold(0, u64::wrapping_add) == 0
    }

    fn sum(self) -> Counts {
        tables().map(|table| self.of(table)).fold(Counts::default(), |sum, cells| Counts {
            calls: sum.calls.wrapping_add(cells.calls.load(Ordering::Relaxed)),
            time: sum.time.wrapping_add(cells.time.load(Ordering::Relaxed)),
            own: sum.own.wrapping_add(cells.own.load(Ordering::Relaxed)),
            memory: None,
        })
    }
}
