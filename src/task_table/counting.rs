//! Runtimes that count their tasks, so that the table tells how many tasks it lacks.
//!
//! A runtime counts on its own threads: before one sleeps, when one ends, and when this crate spawns a task on it. So the count is right
//! whenever the runtime has nothing to do, and nobody has to keep the runtime, or a handle of it, for that. A runtime all of whose threads
//! are busy or blocked shows its last count; the header tells when that was.

use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicPtr, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use dyntrace_task_table::layout::header;
use tokio::runtime::{Handle, Id, RuntimeMetrics};

use super::kept::table;
use super::table::Table;
use crate::clock;
use crate::forks::hold_across_forks;

type Counters = Vec<(Id, Weak<Counter>)>;

/// The counters of running runtimes.
static COUNTERS: Mutex<Counters> = Mutex::new(Vec::new());

/// How often a runtime counts again, if another of its threads changes the number meanwhile.
const TRIES: usize = 4;

/// The counter of a runtime. Functions that the runtime calls own it, so it ends with the runtime.
pub(crate) struct Counter {
    /// The runtime; set once it is built.
    runtime: OnceLock<Id>,
    /// The table that has the count. Null before there is one.
    table: AtomicPtr<Table>,
    /// The runtime's share of the table's count.
    counted: AtomicU64,
}

impl Counter {
    pub(crate) fn new() -> Arc<Counter> {
        let table = AtomicPtr::new(ptr::null_mut());
        Arc::new(Counter { runtime: OnceLock::new(), table, counted: AtomicU64::new(0) })
    }

    /// Begins to count the tasks of a runtime, which is new.
    pub(crate) fn begin(self: &Arc<Self>, runtime: &Handle) {
        hold_across_forks!(Counters, counters());
        let id = runtime.id();
        if self.runtime.set(id).is_ok() {
            counters().push((id, Arc::downgrade(self)));
        }
        if let Some(table) = table() {
            self.show(table, &runtime.metrics());
        }
    }

    /// Counts the tasks of the runtime, one of whose threads calls this.
    pub(crate) fn count(&self) {
        if let Some(table) = table()
            && let Ok(current) = Handle::try_current()
            && self.runtime.get() == Some(&current.id())
        {
            self.show(table, &current.metrics());
        }
    }

    fn show(&self, table: &'static Table, runtime: &RuntimeMetrics) {
        let this = ptr::from_ref(table).cast_mut();
        let before = self.table.swap(this, AcqRel);
        if !ptr::eq(before, this) {
            if !before.is_null() {
                // The table of the parent of this process, which has one thread.
                self.counted.store(0, Relaxed);
            }
            table.add(header::RUNTIMES, 1);
        }
        for _ in 0..TRIES {
            let tasks = runtime.num_alive_tasks() as u64;
            let before = self.counted.swap(tasks, AcqRel);
            table.add(header::COUNTED, tasks.wrapping_sub(before));
            // Another thread may have shown an older number after a newer one.
            if runtime.num_alive_tasks() as u64 == tasks {
                break;
            }
        }
        table.counted(clock::now());
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.get() else { return };
        counters().retain(|(id, _)| id != runtime);
        if let Some(table) = table()
            && ptr::eq(table, self.table.load(Acquire))
        {
            table.add(header::COUNTED, 0_u64.wrapping_sub(*self.counted.get_mut()));
            table.add(header::RUNTIMES, 0_u64.wrapping_sub(1));
            table.counted(clock::now());
        }
    }
}

/// Counts the tasks of the current runtime, if it is one that counts.
pub(crate) fn count() {
    if table().is_some()
        && let Some(counter) = current()
    {
        counter.count();
    }
}

/// Whether there is a table, and the current runtime counts its tasks.
pub(crate) fn is_counted() -> bool {
    table().is_some() && current().is_some()
}

fn current() -> Option<Arc<Counter>> {
    let current = Handle::try_current().ok()?.id();
    // Outside of the lock, which `drop` takes, too.
    let counter = counters().iter().find(|(id, _)| *id == current).map(|(_, counter)| Weak::clone(counter));
    counter?.upgrade()
}

/// Nothing panics under this lock.
fn counters() -> MutexGuard<'static, Counters> {
    COUNTERS.lock().unwrap_or_else(PoisonError::into_inner)
}
