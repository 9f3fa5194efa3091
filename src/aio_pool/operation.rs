//! The life of one operation, from its submission until its work is settled.
//!
//! Three parties share the *cell* of an operation: its future, the queue entry, and the worker that takes the entry. What
//! each may do depends on the stage, which changes under the cell's lock only:
//!
//! 1. **waiting**: the queues are full; the entry stands in the line at the pool's door.
//! 2. **queued**: the entry is in a worker's queue. To the cell, 1 and 2 are one stage: the work is in it, nobody runs it.
//! 3. **running**: the worker has the work in its hands. The cell keeps who is to be told.
//! 4. **answered**: work and outcome are in the cell, until the task takes them.
//! 5. **settled**: the cell is empty.
//!
//! Who leads from one to the next:
//!
//! - a. Whoever submits makes the cell, in 1 or 2. Without a future, nobody is to be told from the beginning.
//! - b. 1 → 2: whoever takes another job out of the queues. The cell does not notice.
//! - c. 1, 2 → 3: the worker begins to run the work, or whoever refuses it (shutdown, no thread) takes it to answer it.
//! - d. 3 → 4: the work has ended or is refused, and there is a future: its task is woken. Without a future, 3 → 5: the
//!   worker settles.
//! - e. 4 → 5: the task polls, settles, and has the outcome.
//! - f. The future is dropped. In 1 and 2, → 5: the dropper settles with `Cancelled`; the entry is a husk now, taken out
//!   of the line at once or thrown away by the worker that meets it. In 3: nobody is to be told any more. In 4, → 5: the
//!   dropper settles with the outcome. In 5: nothing is left to do.
//!
//! Each step to 5 takes the work out of the cell under the lock, and each but d out of a stage that it leaves for good; in
//! d the worker has the only one. So each work is settled once. No wake-up is lost: the task leaves its waker under the
//! lock while the stage is before 4, and the step to 4 takes the waker in the same hold of the lock.
//!
//! Code of others (works, wakers, and what they drop) never runs while the cell is locked.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::contain::contain;
use super::queue::Ticket;
use super::shared::Shared;
use super::work::{Fault, Work};
use crate::sync::{Mutex, lock};

/// A work that was submitted; a future of its outcome, for any executor.
///
/// The work is on its way whether or not this is polled.
///
/// # Cancellation
///
/// Dropped before an I/O thread has taken the work up, it never runs. Dropped later, the work goes on to its end, and
/// its output is dropped. [`Work::settle`] is called in each case. Leaked (as by [`std::mem::forget`]), a work may run, but
/// nobody settles it.
///
/// # Panics
///
/// When polled again after it was ready.
#[must_use = "dropping an operation cancels it; `submit_detached` is for works that nobody awaits"]
pub struct Operation<W: Work> {
    cell: Arc<Cell<W>>,
    /// Where it stands in line, if it found the queues full.
    line: Option<(Arc<Shared>, Ticket)>,
}

impl<W: Work> Operation<W> {
    pub(super) fn new(cell: Arc<Cell<W>>, line: Option<(Arc<Shared>, Ticket)>) -> Self {
        Operation { cell, line }
    }
}

impl<W: Work> Future for Operation<W> {
    type Output = Result<W::Output, Fault>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.cell.poll(context.waker())
    }
}

impl<W: Work> Drop for Operation<W> {
    fn drop(&mut self) {
        self.cell.abandon();
        if let Some((shared, ticket)) = &self.line {
            shared.leave_line(*ticket);
        }
    }
}

/// What the pool knows of an operation.
pub(super) trait Job: Send + Sync {
    /// Does the work, unless it was cancelled meanwhile.
    fn run(&self);

    /// Answers with a fault instead, unless it was cancelled meanwhile.
    fn refuse(&self, fault: Fault);
}

pub(super) struct Cell<W: Work> {
    stage: Mutex<Stage<W>>,
}

enum Stage<W: Work> {
    /// 1 and 2
    Submitted { work: W, waiter: Waiter },
    /// 3
    Running { waiter: Waiter },
    /// 4
    Answered { work: W, outcome: Result<W::Output, Fault> },
    /// 5
    Settled,
}

/// Who is to be told of the end.
enum Waiter {
    /// A future, and the task that has polled it last, if any has.
    Future(Option<Waker>),
    Nobody,
}

impl<W: Work> Cell<W> {
    /// Step a, with a future to come.
    pub fn awaited(work: W) -> Arc<Self> {
        Cell::new(work, Waiter::Future(None))
    }

    /// Step a, without a future.
    pub fn detached(work: W) -> Arc<Self> {
        Cell::new(work, Waiter::Nobody)
    }

    fn new(work: W, waiter: Waiter) -> Arc<Self> {
        Arc::new(Cell { stage: Mutex::new(Stage::Submitted { work, waiter }) })
    }

    /// Step c. `None`: this is a husk.
    fn take_up(&self) -> Option<W> {
        let mut stage = lock(&self.stage);
        match mem::replace(&mut *stage, Stage::Settled) {
            Stage::Submitted { work, waiter } => {
                *stage = Stage::Running { waiter };
                Some(work)
            }
            Stage::Settled => None,
            Stage::Running { .. } | Stage::Answered { .. } => unreachable!("an entry is taken once"),
        }
    }

    /// Step d.
    fn answer(&self, work: W, outcome: Result<W::Output, Fault>) {
        let mut stage = lock(&self.stage);
        let Stage::Running { waiter } = mem::replace(&mut *stage, Stage::Settled) else {
            unreachable!("only who has taken the work up ends this stage")
        };
        match waiter {
            Waiter::Future(waker) => {
                *stage = Stage::Answered { work, outcome };
                drop(stage);
                if let Some(waker) = waker {
                    waker.wake();
                }
            }
            Waiter::Nobody => {
                drop(stage);
                settle(work, &outcome);
            }
        }
    }

    /// Step e, or leaves the waker.
    fn poll(&self, waker: &Waker) -> Poll<Result<W::Output, Fault>> {
        let mut waker = Some(waker.clone());
        let mut stage = lock(&self.stage);
        match &mut *stage {
            Stage::Submitted { waiter: Waiter::Future(last), .. } | Stage::Running { waiter: Waiter::Future(last) } => {
                mem::swap(last, &mut waker);
                drop(stage);
                // Here the waker of the poll before this one is dropped.
                Poll::Pending
            }
            Stage::Answered { .. } => {
                let Stage::Answered { work, outcome } = mem::replace(&mut *stage, Stage::Settled) else {
                    unreachable!()
                };
                drop(stage);
                settle(work, &outcome);
                Poll::Ready(outcome)
            }
            _ => {
                drop(stage);
                panic!("an operation was polled again after it was ready")
            }
        }
    }

    /// Step f.
    fn abandon(&self) {
        let mut stage = lock(&self.stage);
        let next = match &*stage {
            Stage::Running { .. } => Stage::Running { waiter: Waiter::Nobody },
            _ => Stage::Settled,
        };
        let before = mem::replace(&mut *stage, next);
        drop(stage);
        match before {
            Stage::Submitted { work, .. } => settle(work, &Err(Fault::Cancelled)),
            Stage::Answered { work, outcome } => settle(work, &outcome),
            Stage::Running { .. } | Stage::Settled => {}
        }
    }
}

impl<W: Work> Job for Cell<W> {
    fn run(&self) {
        if let Some(mut work) = self.take_up() {
            let outcome = contain(|| work.run()).ok_or(Fault::Panicked);
            self.answer(work, outcome);
        }
    }

    fn refuse(&self, fault: Fault) {
        if let Some(work) = self.take_up() {
            self.answer(work, Err(fault));
        }
    }
}

/// The work is dropped with it, so that a panic in that stays here too.
fn settle<W: Work>(mut work: W, outcome: &Result<W::Output, Fault>) {
    contain(move || work.settle(outcome.as_ref()));
}
