//! Permits of tokio's semaphore, with the probes of a wait.

use std::future::poll_fn;
use std::panic::Location;

use tokio::sync::{AcquireError, Semaphore, SemaphorePermit};
use tokio::task::coop::poll_proceed;

use dyntrace_processes::waiting::{On, Operation, Resource, Waiting};

/// Acquires permits as [`Semaphore::acquire_many`] does.
///
/// Free permits are taken without tokio's future, which costs more than the rest. Both ways use the same counter: while others wait, it
/// has no free permits, so nobody overtakes them.
#[inline(always)]
pub(super) async fn acquire<'s>(
    semaphore: &'s Semaphore,
    permits: u32,
    resource: &Resource,
    operation: Operation,
    place: &'static Location<'static>,
) -> Result<SemaphorePermit<'s>, AcquireError> {
    // First: the semaphore may be closed while the task waits for its turn.
    turn().await;
    if let Ok(permit) = semaphore.try_acquire_many(permits) {
        return Ok(permit);
    }
    Waiting::new(On(resource, operation), place, semaphore.acquire_many(permits)).await
}

/// Waits for the task's turn, as tokio's futures do that are ready: a task that never waits lets others run now and then.
#[inline(always)]
pub(super) fn turn() -> impl Future<Output = ()> {
    poll_fn(|context| poll_proceed(context).map(|coop| coop.made_progress()))
}
