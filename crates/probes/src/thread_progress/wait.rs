//! Waiting for a grace period: with the thread, or with a task.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::grace_period::{GracePeriod, Late};
use super::pending::{self, Answer, WaitId};
use super::pin::is_pinned;
use crate::primitives::pause;

/// Blocks until every thread that is pinned now has unpinned, for `patience` at most.
///
/// # Errors
///
/// Returns the threads that are still pinned; data that they read must stay. Fails at once if the current thread is pinned: it would
/// wait for itself.
pub fn wait_blocking(patience: Duration) -> Result<(), Late> {
    if is_pinned() {
        return Err(Late::own());
    }
    let mut period = GracePeriod::begin();
    while !period.is_over() {
        if let Some(held) = period.held(patience) {
            return Err(held.named());
        }
        pause(period.pause());
    }
    Ok(())
}

/// Waits until every thread that is pinned at the first poll has unpinned, on any executor. If there is none, the first poll is ready.
///
/// While it lasts, [`late`](pending::late) returns the threads that delay it. The output has them if the wait took
/// [long](super::grace_period::NOTABLE).
///
/// # Panics
///
/// If a pinned thread makes the first poll.
///
/// # Cancellation
///
/// If it is dropped before its end, data that threads read must stay.
pub fn wait() -> Wait {
    Wait { id: None }
}

/// The future of [`wait`].
#[must_use = "nothing is waited for until it is polled"]
pub struct Wait {
    /// Set while it is pending.
    id: Option<WaitId>,
}

impl Future for Wait {
    type Output = Option<Late>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Late>> {
        if let Some(id) = self.id.take() {
            match pending::ask(id, cx.waker()) {
                Answer::Over(late) => return Poll::Ready(late),
                Answer::Pending => {
                    self.id = Some(id);
                    return Poll::Pending;
                }
                // It begins again, for the threads of the child.
                Answer::LeftByFork => {}
            }
        }
        let mut period = GracePeriod::begin();
        if period.is_over() {
            return Poll::Ready(None);
        }
        self.id = Some(pending::add(period, cx.waker()));
        Poll::Pending
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            pending::remove(id);
        }
    }
}
