//! `batch_semaphore::Acquire`: tokio's locks, semaphores and bounded channels wait by it.

use super::{Site, waits};
use crate::future::own::{Lock, REFERENCE, WAITING};
use crate::listing::{Await, SemaphoreOf, WaitsFor};

/// Modules of the functions that await it.
const OWNERS: &[(&str, SemaphoreOf)] = &[
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
    if let Some(lock) = own_lock(site, semaphore.address) {
        return Some(waits(WaitsFor::Semaphore {
            address: semaphore.address,
            of: lock.of,
            free: permits >> 1,
            missing,
            closed: false,
            holder: lock.holder(live),
        }));
    }
    Some(waits(WaitsFor::Semaphore {
        address: semaphore.address,
        of: site.within_tokio().find_map(|frame| owner(frame.path)).unwrap_or(SemaphoreOf::Unknown),
        // the lowest bit says that it is closed
        free: permits >> 1,
        missing,
        closed: permits & 1 == 1,
        holder: None,
    }))
}

/// The lock of `dyntrace::sync` to which the semaphore belongs.
fn own_lock(site: &Site<'_, '_>, semaphore: u64) -> Option<Lock> {
    let frames = std::iter::successors(site.frame, |frame| frame.outer);
    let mut frames =
        frames.take_while(|frame| ["tokio::", "dyntrace::"].iter().any(|path| frame.path.starts_with(path)));
    let waiting = frames.find(|frame| frame.path.starts_with(WAITING))?;
    let values = &site.walk.steady;
    let lock = Lock::behind(values, &values.follow(waiting.variables, &[REFERENCE])?)?;
    (lock.semaphore(values)? == semaphore).then_some(lock)
}
