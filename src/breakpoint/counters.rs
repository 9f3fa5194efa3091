//! Counts of calls and of the time that they take: each thread adds in a table of its own, and who reads sums up.
//!
//! A table is written by one thread and never freed: who comes after a thread that has ended goes on counting in its table,
//! so that nothing counted is lost. A counter's place may have been another's before; it counts from what it finds there.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Error;

const PLACES: usize = 256;
const CHUNKS: usize = 512;

/// The counts of one function for one pattern.
#[derive(Debug)]
pub(super) struct Counter {
    place: usize,
    /// What was counted in the place before.
    before: Counts,
}

/// Calls, and nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) calls: u64,
    pub(super) time: u64,
}

#[derive(Default)]
struct Place {
    calls: AtomicU64,
    time: AtomicU64,
}

type Chunk = [Place; PLACES];

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
    free_places: Vec<usize>,
    places: usize,
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
        let mut tables = tables();
        let place = match tables.free_places.pop() {
            Some(place) => place,
            None if tables.places == CHUNKS * PLACES => return Err(Error::TooManyCounters { most: CHUNKS * PLACES }),
            None => {
                tables.places += 1;
                tables.places - 1
            }
        };
        Ok(Counter { place, before: tables.sum(place) })
    }

    /// One call more.
    #[inline]
    pub(super) fn count(&self) {
        self.add(1, 0);
    }

    /// Only additions: a signal handler may do the same in between, which is one instruction on x86 and a lost handler's
    /// call elsewhere, once in a long while.
    #[inline]
    pub(super) fn add(&self, calls: u64, time: u64) {
        match OWN.get().and_then(|table| table.place(self.place)) {
            Some(place) => {
                // Relaxed: one thread writes; whoever reads takes what is there.
                place.calls.store(place.calls.load(Ordering::Relaxed).wrapping_add(calls), Ordering::Relaxed);
                if time != 0 {
                    place.time.store(place.time.load(Ordering::Relaxed).wrapping_add(time), Ordering::Relaxed);
                }
            }
            None => self.add_first(calls, time),
        }
    }

    /// In a place that this thread has not got yet, or has no more.
    #[cold]
    fn add_first(&self, calls: u64, time: u64) {
        let place = match own_table() {
            Some(table) => table.make_place(self.place),
            None => OF_ALL.make_place(self.place),
        };
        place.calls.fetch_add(calls, Ordering::Relaxed);
        place.time.fetch_add(time, Ordering::Relaxed);
    }

    /// What was counted so far. Exact for threads that have ended, or have told whoever asks.
    pub(super) fn read(&self) -> Counts {
        let now = tables().sum(self.place);
        Counts { calls: now.calls.wrapping_sub(self.before.calls), time: now.time.wrapping_sub(self.before.time) }
    }
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
    fn sum(&self, place: usize) -> Counts {
        let places = self.all.iter().copied().chain([&OF_ALL]).filter_map(|table| table.place(place));
        places.fold(Counts::default(), |sum, place| Counts {
            calls: sum.calls.wrapping_add(place.calls.load(Ordering::Relaxed)),
            time: sum.time.wrapping_add(place.time.load(Ordering::Relaxed)),
        })
    }
}

impl Table {
    const fn new() -> Table {
        Table { chunks: [const { AtomicPtr::new(ptr::null_mut()) }; CHUNKS] }
    }

    #[inline]
    fn place(&self, place: usize) -> Option<&Place> {
        // Acquire: with `make_place`.
        let chunk = self.chunks[place / PLACES].load(Ordering::Acquire);
        // SAFETY: null, or a chunk that `make_place` leaked; changed behind shared references only.
        unsafe { chunk.as_ref() }.map(|chunk| &chunk[place % PLACES])
    }

    fn make_place(&self, place: usize) -> &Place {
        let chunk = &self.chunks[place / PLACES];
        if chunk.load(Ordering::Acquire).is_null() {
            let new = Box::into_raw(Box::new(std::array::from_fn::<Place, PLACES, _>(|_| Place::default())));
            // Release: who finds the chunk finds it made.
            if chunk.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire).is_err() {
                // SAFETY: leaked above, and nobody has seen it.
                drop(unsafe { Box::from_raw(new) });
            }
        }
        self.place(place).expect("made above")
    }
}
