//! Runtimes that count their tasks, so that the table tells how many tasks it lacks.
//!
//! A runtime counts on its own threads: before one sleeps, when one ends, and when this crate spawns a task on it. So the count is right
//! whenever the runtime has nothing to do, and nobody has to keep the runtime, or a handle of it, for that. A runtime all of whose threads
//! are busy or blocked shows its last count; the header tells when that was.
//!
//! A thread remembers the tally of the runtime on which it spawned last, so that spawns take no lock here. Tallies are never freed: a
//! later runtime takes the tally of one that has ended.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use dyntrace_probes::clock;
use dyntrace_probes::forks::hold_across_forks;
use dyntrace_task_table::layout::header;
use tokio::runtime::{Handle, Id, RuntimeMetrics};

use super::program::table;
use super::table::Table;

static COUNTERS: Mutex<Counters> = Mutex::new(Counters { running: Vec::new(), free: Vec::new() });

/// How often the running runtimes have changed.
static CHANGES: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static LAST: Cell<Last> = const { Cell::new(Last { runtime: None, changes: 0, tally: None }) };
}

struct Counters {
    /// The tallies of running runtimes that count.
    running: Vec<(Id, &'static Tally)>,
    /// Those of runtimes that have ended.
    free: Vec<&'static Tally>,
}

/// The runtime on which the thread spawned last, and its tally if it counts. Valid while [`CHANGES`] equals `changes`.
#[derive(Clone, Copy)]
struct Last {
    runtime: Option<Id>,
    changes: u64,
    tally: Option<&'static Tally>,
}

/// How often a runtime counts again, if another of its threads changes the number meanwhile.
const TRIES: usize = 4;

/// The counter of a runtime. Functions that the runtime calls own it, so it ends with the runtime.
pub struct Counter {
    /// The runtime; set once it is built.
    own: OnceLock<(Id, &'static Tally)>,
}

/// The number of a runtime's tasks.
struct Tally {
    /// The table that has the count. Null before there is one.
    table: AtomicPtr<Table>,
    /// The runtime's share of the table's count.
    counted: AtomicU64,
}

impl Counter {
    pub fn new() -> Arc<Counter> {
        Arc::new(Counter { own: OnceLock::new() })
    }

    /// Begins to count the tasks of a runtime, which is new.
    pub fn begin(&self, runtime: &Handle) {
        let id = runtime.id();
        let (_, tally) = self.own.get_or_init(|| {
            let mut counters = counters();
            let tally = counters.free.pop().unwrap_or_else(|| Box::leak(Box::new(Tally::new())));
            counters.running.push((id, tally));
            // Release: a thread that sees the change finds the tally.
            CHANGES.fetch_add(1, Release);
            (id, tally)
        });
        if let Some(table) = table() {
            tally.show(table, &runtime.metrics(), 0);
        }
    }

    /// Counts the tasks of the runtime, one of whose threads calls this.
    pub fn count(&self) {
        if let Some(table) = table()
            && let Some((runtime, tally)) = self.own.get()
            && let Ok(current) = Handle::try_current()
            && *runtime == current.id()
        {
            tally.show(table, &current.metrics(), 0);
        }
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        let Some((runtime, tally)) = self.own.get() else { return };
        let mut counters = counters();
        counters.running.retain(|(id, _)| id != runtime);
        // Release: as in `begin`.
        CHANGES.fetch_add(1, Release);
        tally.end();
        counters.free.push(tally);
    }
}

impl Tally {
    fn new() -> Tally {
        Tally { table: AtomicPtr::new(ptr::null_mut()), counted: AtomicU64::new(0) }
    }

    /// Shows how many tasks the runtime has, with `more` that it is about to spawn.
    fn show(&self, table: &'static Table, runtime: &RuntimeMetrics, more: u64) {
        let this = ptr::from_ref(table).cast_mut();
        if !ptr::eq(self.table.load(Relaxed), this) {
            self.enter(table);
        }
        for _ in 0..TRIES {
            let tasks = runtime.num_alive_tasks() as u64 + more;
            // Most tasks are spawned when as many others have ended: then no other thread's cache loses the number.
            if self.counted.load(Relaxed) != tasks {
                let before = self.counted.swap(tasks, Relaxed);
                table.add(header::COUNTED, tasks.wrapping_sub(before));
            }
            // Another thread may have shown an older number after a newer one.
            if runtime.num_alive_tasks() as u64 + more == tasks {
                break;
            }
        }
        table.counted(clock::now());
    }

    /// Begins to count in a table.
    #[cold]
    fn enter(&self, table: &'static Table) {
        let before = self.table.swap(ptr::from_ref(table).cast_mut(), Relaxed);
        if ptr::eq(before, table) {
            return;
        }
        if !before.is_null() {
            // The table of the parent of this process, which has one thread.
            self.counted.store(0, Relaxed);
        }
        table.add(header::RUNTIMES, 1);
    }

    /// Takes the runtime's tasks out of the table: it has ended.
    fn end(&self) {
        let of = self.table.swap(ptr::null_mut(), Relaxed);
        let counted = self.counted.swap(0, Relaxed);
        if let Some(table) = table()
            && ptr::eq(table, of)
        {
            table.add(header::COUNTED, 0_u64.wrapping_sub(counted));
            table.add(header::RUNTIMES, 0_u64.wrapping_sub(1));
            table.counted(clock::now());
        }
    }
}

/// The current runtime, which counts its tasks.
pub struct Counting {
    runtime: Handle,
    tally: &'static Tally,
}

impl Counting {
    /// The current runtime, if it counts its tasks and there is a table.
    pub fn current() -> Option<Counting> {
        table()?;
        let runtime = Handle::try_current().ok()?;
        let tally = tally_of(runtime.id())?;
        Some(Counting { runtime, tally })
    }

    /// Counts the tasks, with one that this thread is about to spawn.
    pub fn count_with_next(&self) {
        if let Some(table) = table() {
            self.tally.show(table, &self.runtime.metrics(), 1);
        }
    }
}

/// The tally of a runtime, if it counts.
fn tally_of(runtime: Id) -> Option<&'static Tally> {
    // Acquire: with the Release of `begin`. First: if the runtimes change meanwhile, the next call looks again.
    let changes = CHANGES.load(Acquire);
    let last = LAST.get();
    if last.runtime == Some(runtime) && last.changes == changes {
        return last.tally;
    }
    let tally = counters().running.iter().find(|(id, _)| *id == runtime).map(|(_, tally)| *tally);
    LAST.set(Last { runtime: Some(runtime), changes, tally });
    tally
}

/// Nothing panics under this lock.
fn counters() -> MutexGuard<'static, Counters> {
    hold_across_forks!(Counters, held());
    held()
}

fn held() -> MutexGuard<'static, Counters> {
    COUNTERS.lock().unwrap_or_else(PoisonError::into_inner)
}
