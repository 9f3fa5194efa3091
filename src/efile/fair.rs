//! Turns: a task whose every answer is there at once gives way to others from time to time, as with tokio's own types.
//!
//! tokio's way of it has the runtime wake the task when its turn is over. Inside of another executor's `block_on` in a task, that is
//! never. So a future here wakes its task itself, gives way once, and then goes on, whether or not the runtime gave the task another
//! budget.

use std::future::{Future, poll_fn};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::sync::oneshot;
use tokio::task::coop::{Unconstrained, has_budget_remaining, poll_proceed, unconstrained};

use super::OfProcess;

/// A future that takes from the task's budget when it is ready.
#[derive(Debug)]
pub(crate) struct Fair<F> {
    future: F,
    gave_way: bool,
}

impl<F> Fair<F> {
    pub(super) fn new(future: F) -> Fair<F> {
        Fair { future, gave_way: false }
    }
}

impl<F: Future + Unpin> Future for Fair<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        if !has_turn(&mut self.gave_way, cx) {
            return Poll::Pending;
        }
        let answer = ready!(Pin::new(&mut self.future).poll(cx));
        spend(cx);
        Poll::Ready(answer)
    }
}

/// Whether the task may go on. Else it is woken already.
fn has_turn(gave_way: &mut bool, cx: &Context<'_>) -> bool {
    let may = has_budget_remaining() || mem::replace(gave_way, true);
    if !may {
        cx.waker().wake_by_ref();
    }
    may
}

fn spend(cx: &mut Context<'_>) {
    // Without this look an empty budget would have the runtime note the task, in vain.
    if has_budget_remaining()
        && let Poll::Ready(unit) = poll_proceed(cx)
    {
        unit.made_progress();
    }
}

/// Takes one unit of the budget, of a task that has one.
pub(super) async fn turn() {
    let mut gave_way = false;
    poll_fn(|cx| match has_turn(&mut gave_way, cx) {
        true => {
            spend(cx);
            Poll::Ready(())
        }
        false => Poll::Pending,
    })
    .await;
}

/// The answer of an operation that nobody needs to await. `None` in a forked child.
pub(crate) type Answered<T> = OfProcess<Fair<Unconstrained<oneshot::Receiver<T>>>>;

/// What the sender of a channel answers.
pub(crate) fn answered<T>(receiver: oneshot::Receiver<T>) -> Answered<T> {
    OfProcess::new(Fair::new(unconstrained(receiver)))
}
