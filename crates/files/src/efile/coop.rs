//! Cooperative scheduling: a task whose operations all complete at once yields from time to time, as with tokio's own types.
//!
//! tokio's own mechanism has the runtime wake the task when its budget is renewed. That never happens inside another executor's
//! `block_on` in a task. So a future here wakes its task itself, yields once, and then goes on, whether or not the runtime renewed the
//! budget.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::sync::oneshot;
use tokio::task::coop::{Unconstrained, has_budget_remaining, poll_proceed, unconstrained};

use super::process_local::ProcessLocal;

/// A future that spends a unit of the task's budget when it is ready.
#[derive(Debug)]
pub(crate) struct Cooperative<F> {
    future: F,
    has_yielded: bool,
}

impl<F> Cooperative<F> {
    pub(super) fn new(future: F) -> Cooperative<F> {
        Cooperative { future, has_yielded: false }
    }
}

impl<F: Future + Unpin> Future for Cooperative<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        if !may_proceed(|| false, &mut self.has_yielded, cx) {
            return Poll::Pending;
        }
        let answer = ready!(Pin::new(&mut self.future).poll(cx));
        spend(cx);
        Poll::Ready(answer)
    }
}

/// Returns whether the task may go on: it has yielded, or has budget and need not yield. If not, wakes it.
fn may_proceed(must_yield: impl FnOnce() -> bool, has_yielded: &mut bool, cx: &Context<'_>) -> bool {
    let may = *has_yielded || !must_yield() && has_budget_remaining();
    if !may {
        *has_yielded = true;
        cx.waker().wake_by_ref();
    }
    may
}

fn spend(cx: &mut Context<'_>) {
    // With an empty budget, `poll_proceed` would have the runtime note the task for nothing.
    if has_budget_remaining()
        && let Poll::Ready(unit) = poll_proceed(cx)
    {
        unit.made_progress();
    }
}

/// Yields once if the task's budget is spent, or if `must_yield` says so, and spends a unit of the budget. `has_yielded` is false before the
/// first poll, and again when it is ready.
pub(crate) fn poll_budget(must_yield: impl FnOnce() -> bool, has_yielded: &mut bool, cx: &mut Context<'_>) -> Poll<()> {
    if !may_proceed(must_yield, has_yielded, cx) {
        return Poll::Pending;
    }
    *has_yielded = false;
    spend(cx);
    Poll::Ready(())
}

/// As [`poll_budget`].
pub(super) async fn yield_if_spent(must_yield: impl Fn() -> bool) {
    let mut has_yielded = false;
    poll_fn(|cx| poll_budget(&must_yield, &mut has_yielded, cx)).await;
}

/// The outcome of a detached operation. `None` in a forked child.
pub(crate) type Answered<T> = ProcessLocal<Cooperative<Unconstrained<oneshot::Receiver<T>>>>;

/// Awaits the value that the sender of a channel sends.
pub(crate) fn answered<T>(receiver: oneshot::Receiver<T>) -> Answered<T> {
    ProcessLocal::new(Cooperative::new(unconstrained(receiver)))
}
