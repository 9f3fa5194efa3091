//! Waiting for a grace period: with the thread, or with a task.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::grace_period::GracePeriod;
use super::late::Late;
use super::pending::{self, Answer, Ticket};
use super::pin::is_pinned;
use crate::sync::pause;

/// Waits for every thread that is pinned now, as long as `patience` at most: for threads that have nothing else to do.
///
/// # Errors
///
/// Who is still inside; what they read must stay. At once, if that is the current thread: it would wait for itself.
pub(crate) fn wait_blocking(patience: Duration) -> Result<(), Late> {
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

/// Waits for every thread that is pinned when this is first polled, however long it takes: [`late`](pending::late) tells who
/// holds it up, and the answer who did, where that took [some time](super::NOTABLE). On any executor; the task sleeps meanwhile, and is
/// not even that where nobody is inside.
///
/// May be dropped at any time: then nobody has waited, and what threads read must stay.
///
/// # Panics
///
/// When it is first polled by a thread that is pinned.
pub(crate) fn wait() -> Wait {
    Wait { ticket: None }
}

/// See [`wait`].
#[must_use = "nothing is waited for until it is polled"]
pub(crate) struct Wait {
    /// What it is known by while it is pending.
    ticket: Option<Ticket>,
}

impl Future for Wait {
    type Output = Option<Late>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Late>> {
        if let Some(ticket) = self.ticket.take() {
            match pending::ask(ticket, cx.waker()) {
                Answer::Over(late) => return Poll::Ready(late),
                Answer::Pending => {
                    self.ticket = Some(ticket);
                    return Poll::Pending;
                }
                // It waits for the threads of the child, then.
                Answer::LeftByFork => {}
            }
        }
        let mut period = GracePeriod::begin();
        if period.is_over() {
            return Poll::Ready(None);
        }
        self.ticket = Some(pending::add(period, cx.waker()));
        Poll::Pending
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            pending::remove(ticket);
        }
    }
}
