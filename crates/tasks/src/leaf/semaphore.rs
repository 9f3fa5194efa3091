//! `batch_semaphore::Acquire`: tokio's locks, semaphores and bounded channels wait by it, and those of dyntrace.

use std::sync::Arc;

use super::{Site, waits};
use crate::future::own::{Lock, REFERENCE, WAITING};
use crate::future::string;
use crate::listing::{Await, SemaphoreOf, WaitsFor};

/// Modules of the functions that await it.
const OWNERS: &[(&str, SemaphoreOf)] = &[
    ("dyntrace_resources::sync::mutex::", SemaphoreOf::Mutex),
    ("dyntrace_resources::sync::rwlock::", SemaphoreOf::RwLock),
    ("tokio::sync::mutex::", SemaphoreOf::Mutex),
    ("tokio::sync::rwlock::", SemaphoreOf::RwLock),
    ("tokio::sync::semaphore::", SemaphoreOf::Semaphore),
    ("tokio::sync::mpsc::", SemaphoreOf::Channel),
];

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    let missing = site.number(&["node", "state", "only"])?;
    let semaphore = site.walk.steady.follow(site.value, &["semaphore", "*"])?;
    // other tasks take and return permits while this one waits
    let live = &site.walk.live;
    let permits = live.follow(&semaphore, &["permits", "only"]).and_then(|value| live.number(&value))?;
    let owner = |path: &str| OWNERS.iter().find(|(module, _)| path.starts_with(module)).map(|(_, owner)| *owner);
    Some(waits(WaitsFor::Semaphore {
        address: semaphore.address,
        // the outermost: dyntrace's locks await permits of tokio's semaphore
        of: site.within_locks().filter_map(|frame| owner(frame.path)).last().unwrap_or(SemaphoreOf::Unknown),
        name: name(site),
        // the lowest bit says that it is closed
        free: permits >> 1,
        missing,
        closed: permits & 1 == 1,
        holder: own_lock(site, semaphore.address).and_then(|lock| lock.holder(live)).map(Box::new),
    }))
}

/// The lock of `dyntrace::sync` to which the semaphore belongs.
fn own_lock(site: &Site<'_, '_>, semaphore: u64) -> Option<Lock> {
    let waiting = site.within_locks().find(|frame| frame.path.starts_with(WAITING))?;
    let values = &site.walk.steady;
    let lock = Lock::behind(values, &values.follow(waiting.variables, &[REFERENCE])?)?;
    (lock.semaphore(values)? == semaphore).then_some(lock)
}

/// Returns the name of a resource of dyntrace, which the function that acquires the permits has.
fn name(site: &Site<'_, '_>) -> Option<Arc<str>> {
    let steady = &site.walk.steady;
    let acquires = site.within_locks().find(|frame| frame.path.starts_with("dyntrace_resources::sync::acquire::"))?;
    string(steady, &steady.follow(acquires.variables, &["resource", "*", "name", "?"])?).map(Arc::from)
}
