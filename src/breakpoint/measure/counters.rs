//! Counts of calls and of the time that they take: each thread adds in a table of its own, and who reads sums up.
//!
//! A table is written by one thread and never freed: who comes after a thread that has ended goes on counting in its table,
//! so that nothing counted is lost. A counter's slot may have been another's before; it counts from what it finds there, and
//! begins anew in the same way.

use std::cell::Cell;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::host::HOST;
use super::own_memory::Bytes;
use crate::alloc;
use crate::breakpoint::error::Error;
use crate::forks::hold_across_forks;
use crate::sync::one_writer::add;

/// A power of two: a remainder by it spares a check.
const MOST: usize = 1 << 17;

/// The counts of one function for one pattern.
#[derive(Debug)]
pub(crate) struct Counter {
    slot: CounterSlot,
    /// Where bytes are counted as times are, if a pattern asks for memory: a slot of its own, so that the tables hold no more for others.
    memory: OnceLock<CounterSlot>,
    /// What was counted in the slot before this began, or was last read and left behind.
    before: Mutex<Counts>,
}

/// Where each thread's table has the counts of one counter, as long as that lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CounterSlot(usize);

/// Calls, and cycles of the [clock](crate::clock).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) calls: u64,
    pub(crate) time: u64,
    /// The time without that of timed calls inside.
    pub(crate) own: u64,
    /// What calls have allocated, if that is counted.
    pub(crate) memory: Option<Bytes>,
}

struct Cells {
    calls: AtomicU64,
    time: AtomicU64,
    own: AtomicU64,
}

/// One thread's: three megabytes of addresses, and of memory what was counted in.
type Table = [Cells; MOST];

struct Tables {
    all: Vec<&'static Table>,
    /// Those of threads that have ended.
    free: Vec<&'static Table>,
    /// Places that are no counter's any more.
    free_slots: Vec<CounterSlot>,
    slots: usize,
}

static TABLES: Mutex<Tables> =
    Mutex::new(Tables { all: Vec::new(), free: Vec::new(), free_slots: Vec::new(), slots: 0 });

/// For threads whose own is given back already: in destructors of thread-local values.
static OF_ALL: Table =
    [const { Cells { calls: AtomicU64::new(0), time: AtomicU64::new(0), own: AtomicU64::new(0) } }; MOST];

thread_local! {
    static OWN: Cell<Option<&'static Table>> = const { Cell::new(None) };
    static GIVE_BACK: GiveBack = const { GiveBack };
}

struct GiveBack;

impl Drop for GiveBack {
    fn drop(&mut self) {
        if let Some(table) = OWN.take() {
            tables().free.push(table);
        }
    }
}

/// Nothing panics under this lock.
fn tables() -> MutexGuard<'static, Tables> {
    TABLES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has forked children find the lock free. Who takes it under another lock that is held across forks, does this before that
/// one is: then who forks takes them in the same order.
pub(crate) fn prepare() {
    hold_across_forks!(Tables, tables());
}

impl Counter {
    pub(crate) fn new() -> Result<Counter, Error> {
        prepare();
        let mut tables = tables();
        let slot = tables.slot()?;
        Ok(Counter { slot, memory: OnceLock::new(), before: Mutex::new(tables.sum(slot)) })
    }

    /// Has it count what calls allocate, too.
    pub(crate) fn measure_memory(&self) -> Result<(), Error> {
        let mut before = self.before();
        if self.memory.get().is_none() {
            let mut tables = tables();
            let slot = tables.slot()?;
            before.memory = Some(tables.sum(slot).bytes());
            self.memory.get_or_init(|| slot);
        }
        Ok(())
    }

    pub(crate) fn slot(&self) -> CounterSlot {
        self.slot
    }

    /// Adds what a counted call has allocated.
    pub(crate) fn add_memory(&self, bytes: Bytes) {
        if let Some(slot) = self.memory.get() {
            slot.add_time(bytes.all, bytes.own);
        }
    }

    fn sum(&self) -> Counts {
        let tables = tables();
        Counts { memory: self.memory.get().map(|slot| tables.sum(*slot).bytes()), ..tables.sum(self.slot) }
    }

    /// What was counted so far. Exact for threads that have ended, or have told whoever asks.
    pub(crate) fn read(&self) -> Counts {
        let before = self.before();
        self.sum().since(*before)
    }

    /// The same, and counts from nothing again: each call is in this answer or in a later one. The threads that count
    /// know nothing of it.
    pub(crate) fn take(&self) -> Counts {
        let mut before = self.before();
        let now = self.sum();
        now.since(mem::replace(&mut before, now))
    }

    /// Held while the slot is read, so that of two who read the later one finds no less than was left behind.
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

    /// Of a slot where bytes are counted.
    fn bytes(self) -> Bytes {
        Bytes { all: self.time, own: self.own }
    }
}

impl CounterSlot {
    /// The slot of this number, as a module names it to its host.
    pub(crate) fn numbered(number: usize) -> CounterSlot {
        CounterSlot(number)
    }

    #[inline(always)]
    fn of(self, table: &Table) -> &Cells {
        &table[self.0 % MOST]
    }

    /// One call more.
    #[inline]
    pub(crate) fn count(self) {
        if !self.count_again() {
            self.add_first(1, 0, 0);
        }
    }

    /// The same on a thread that has counted before; whether this is one.
    #[inline(always)]
    pub(crate) fn count_again(self) -> bool {
        OWN.get().map(|table| add(&self.of(table).calls, 1)).is_some()
    }

    /// Adds the time and the own time of a counted call, or its memory and own memory.
    #[inline]
    pub(crate) fn add_time(self, time: u64, own: u64) {
        match OWN.get().map(|table| self.of(table)) {
            Some(cells) => {
                add(&cells.time, time);
                add(&cells.own, own);
            }
            None => self.add_first(0, time, own),
        }
    }

    /// In a table that this thread has not got yet, or has no more.
    #[cold]
    #[inline(never)]
    fn add_first(self, calls: u64, time: u64, own: u64) {
        // A guest counts no calls.
        if let Some(host) = HOST.get() {
            return (host.add_time)(self.0, time, own);
        }
        let cells = self.of(own_table().unwrap_or(&OF_ALL));
        cells.calls.fetch_add(calls, Ordering::Relaxed);
        cells.time.fetch_add(time, Ordering::Relaxed);
        cells.own.fetch_add(own, Ordering::Relaxed);
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        tables().free_slots.extend([self.slot].into_iter().chain(self.memory.take()));
    }
}

fn own_table() -> Option<&'static Table> {
    if let Some(table) = OWN.get() {
        return Some(table);
    }
    GIVE_BACK.try_with(|_| ()).ok()?;
    // The program's allocator may be one that counts for calls.
    let before = alloc::allocated();
    let mut tables = tables();
    let table = tables.free.pop().unwrap_or_else(|| {
        // SAFETY: zero is a value of every number.
        let table = unsafe { Box::<Table>::new_zeroed().assume_init() };
        let table: &'static Table = Box::leak(table);
        tables.all.push(table);
        table
    });
    drop(tables);
    alloc::forget_since(before);
    OWN.set(Some(table));
    Some(table)
}

impl Tables {
    fn slot(&mut self) -> Result<CounterSlot, Error> {
        match self.free_slots.pop() {
            Some(slot) => Ok(slot),
            None if self.slots == MOST => Err(Error::TooManyCounters { most: MOST }),
            None => {
                self.slots += 1;
                Ok(CounterSlot(self.slots - 1))
            }
        }
    }

    fn sum(&self, slot: CounterSlot) -> Counts {
        let all = self.all.iter().copied().chain([&OF_ALL]).map(|table| slot.of(table));
        all.fold(Counts::default(), |sum, cells| Counts {
            calls: sum.calls.wrapping_add(cells.calls.load(Ordering::Relaxed)),
            time: sum.time.wrapping_add(cells.time.load(Ordering::Relaxed)),
            own: sum.own.wrapping_add(cells.own.load(Ordering::Relaxed)),
            memory: None,
        })
    }
}
