//! Counts of calls and of the time that they take: each thread adds in a table of its own, and who reads sums up.
//!
//! A table is written by one thread and never freed: who comes after a thread that has ended goes on counting in its table,
//! so that nothing counted is lost. A counter's place may have been another's before; it counts from what it finds there, and
//! begins anew in the same way.

use std::cell::Cell;
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Error;
use crate::forks::hold_across_forks;

const PLACES: usize = 256;
const CHUNKS: usize = 512;
const MOST: u32 = (CHUNKS * PLACES) as u32;

/// The counts of one function for one pattern.
#[derive(Debug)]
pub(super) struct Counter {
    place: Place,
    /// What was counted in the place before this began, or was last read and left behind.
    before: Mutex<Counts>,
}

/// Where each thread's table has the counts of one counter, as long as that lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place(u32);

/// Calls, and cycles of the [clock](crate::clock).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) calls: u64,
    pub(super) time: u64,
}

#[derive(Default)]
struct Cells {
    calls: AtomicU64,
    time: AtomicU64,
}

type Chunk = [Cells; PLACES];

/// One thread's.
struct Table {
    /// Null, or a chunk that is never freed.
    chunks: [AtomicPtr<Chunk>; CHUNKS],
}

struct Tables {
    all: Vec<&'static Table>,
    /// Those of threads that have ended.
    free: Vec<&'static Table>,
    /// Places that are no counter's any more.
    free_places: Vec<Place>,
    places: u32,
}

static TABLES: Mutex<Tables> =
    Mutex::new(Tables { all: Vec::new(), free: Vec::new(), free_places: Vec::new(), places: 0 });

/// For threads whose own is given back already: in destructors of thread-local values.
static OF_ALL: Table = Table::new();

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

impl Counter {
    pub(super) fn new() -> Result<Counter, Error> {
        hold_across_forks!(Tables, tables());
        let mut tables = tables();
        let place = match tables.free_places.pop() {
            Some(place) => place,
            None if tables.places == MOST => return Err(Error::TooManyCounters { most: MOST as usize }),
            None => {
                tables.places += 1;
                Place(tables.places - 1)
            }
        };
        Ok(Counter { place, before: Mutex::new(tables.sum(place)) })
    }

    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// What was counted so far. Exact for threads that have ended, or have told whoever asks.
    pub(super) fn read(&self) -> Counts {
        let before = self.before();
        tables().sum(self.place).since(*before)
    }

    /// The same, and counts from nothing again: each call is in this answer or in a later one. The threads that count
    /// know nothing of it.
    pub(super) fn take(&self) -> Counts {
        let mut before = self.before();
        let now = tables().sum(self.place);
        now.since(mem::replace(&mut before, now))
    }

    /// Held while the place is read, so that of two who read the later one finds no less than was left behind.
    fn before(&self) -> MutexGuard<'_, Counts> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn since(self, before: Counts) -> Counts {
        Counts { calls: self.calls.wrapping_sub(before.calls), time: self.time.wrapping_sub(before.time) }
    }
}

impl Place {
    /// Chunk, and place in it. The remainder spares a check.
    #[inline]
    fn in_chunk(self) -> (usize, usize) {
        let place = self.0 as usize;
        (place / PLACES % CHUNKS, place % PLACES)
    }

    /// One call more.
    #[inline]
    pub(super) fn count(self) {
        match OWN.get().and_then(|table| table.cells(self)) {
            Some(cells) => add(&cells.calls, 1),
            None => self.add_first(1, 0),
        }
    }

    /// The time of one of the calls that were counted.
    pub(super) fn add_time(self, time: u64) {
        match OWN.get().and_then(|table| table.cells(self)) {
            Some(cells) => add(&cells.time, time),
            None => self.add_first(0, time),
        }
    }

    /// In a table that this thread has not got yet, or has no more; or without such cells.
    #[cold]
    fn add_first(self, calls: u64, time: u64) {
        let cells = match own_table() {
            Some(table) => table.make_cells(self),
            None => OF_ALL.make_cells(self),
        };
        cells.calls.fetch_add(calls, Ordering::Relaxed);
        cells.time.fetch_add(time, Ordering::Relaxed);
    }
}

/// A signal handler that adds in between is lost; on x86 there is no between, as the compiler makes one instruction of it.
#[inline]
fn add(cell: &AtomicU64, more: u64) {
    // Relaxed: one thread writes; whoever reads takes what is there.
    cell.store(cell.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
}

impl Drop for Counter {
    fn drop(&mut self) {
        tables().free_places.push(self.place);
    }
}

fn own_table() -> Option<&'static Table> {
    if let Some(table) = OWN.get() {
        return Some(table);
    }
    GIVE_BACK.try_with(|_| ()).ok()?;
    let mut tables = tables();
    let table = tables.free.pop().unwrap_or_else(|| {
        let table: &'static Table = Box::leak(Box::new(Table::new()));
        tables.all.push(table);
        table
    });
    drop(tables);
    OWN.set(Some(table));
    Some(table)
}

impl Tables {
    fn sum(&self, place: Place) -> Counts {
        let all = self.all.iter().copied().chain([&OF_ALL]).filter_map(|table| table.cells(place));
        all.fold(Counts::default(), |sum, cells| Counts {
            calls: sum.calls.wrapping_add(cells.calls.load(Ordering::Relaxed)),
            time: sum.time.wrapping_add(cells.time.load(Ordering::Relaxed)),
        })
    }
}

impl Table {
    const fn new() -> Table {
        Table { chunks: [const { AtomicPtr::new(ptr::null_mut()) }; CHUNKS] }
    }

    #[inline]
    fn cells(&self, place: Place) -> Option<&Cells> {
        let (chunk, cell) = place.in_chunk();
        // Acquire: with `make_cells`.
        let chunk = self.chunks[chunk].load(Ordering::Acquire);
        // SAFETY: null, or a chunk that `make_cells` leaked; changed behind shared references only.
        unsafe { chunk.as_ref() }.map(|chunk| &chunk[cell])
    }

    fn make_cells(&self, place: Place) -> &Cells {
        let chunk = &self.chunks[place.in_chunk().0];
        if chunk.load(Ordering::Acquire).is_null() {
            let new = Box::into_raw(Box::new(std::array::from_fn::<Cells, PLACES, _>(|_| Cells::default())));
            // Release: who finds the chunk finds it made.
            if chunk.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire).is_err() {
                // SAFETY: leaked above, and nobody has seen it.
                drop(unsafe { Box::from_raw(new) });
            }
        }
        self.cells(place).expect("made above")
    }
}
