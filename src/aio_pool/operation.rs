//! The life of one operation, from its submission until its work is settled.
//!
//! Three parties share the *cell* of an operation: its future, the queue entry, and the worker that takes the entry. What
//! each may do depends on the stage, which changes under the stage's lock only:
//!
//! 1. **waiting**: the queues are full; the entry stands in the line at the pool's door.
//! 2. **queued**: the entry is in a worker's queue. To the cell, 1 and 2 are one stage: nobody runs the work yet.
//! 3. **running**: the work and its outcome are the worker's.
//! 4. **answered**: work and outcome are the future's.
//! 5. **settled**: the cell is empty, or being emptied by who made this step.
//!
//! Who leads from one to the next:
//!
//! - a. Whoever submits makes the cell, in 1 or 2. Without a future, nobody is to be told from the beginning.
//! - b. 1 → 2: whoever takes another job out of the queues. The cell does not notice.
//! - c. 1, 2 → 3: the worker begins to run the work, or whoever refuses it (shutdown, no thread) takes it to answer it.
//! - d. 3 → 4: the work has ended or is refused, and there is a future: its task is woken, by and by ([`answers`](super::answers)).
//!   Without a future, 3 → 5: the worker settles.
//! - e. 4 → 5: the task polls, settles, and has the outcome.
//! - f. The future is dropped. In 1 and 2, → 5: the dropper settles with `Cancelled`; the entry is a husk now, taken out
//!   of the line at once or thrown away by the worker that meets it. In 3: nobody is to be told any more. In 4, → 5: the
//!   dropper settles with the outcome. In 5: nothing is left to do.
//!
//! The work stays where it is from a to its settlement. Each step to 5 is made once, under the stage's lock, and who makes
//! it settles: so each work is settled once. In 3 and after a step to 5 one thread alone may touch the contents, so it
//! never waits for their lock. No wake-up is lost: the task leaves its waker under the stage's lock while the stage is
//! before 4, and the step to 4 takes the waker in the same hold of the lock.
//!
//! Code of others (works, wakers, and what they drop) never runs while the stage is locked.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::contain::contain;
use super::delivery::Addressee;
use super::job::Job;
use super::line::Ticket;
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
    polled: bool,
}

impl<W: Work> Operation<W> {
    pub(super) fn new(cell: Arc<Cell<W>>, line: Option<(Arc<Shared>, Ticket)>) -> Self {
        Operation { cell, line, polled: false }
    }
}

impl<W: Work> Future for Operation<W> {
    type Output = Result<W::Output, Fault>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let first = !mem::replace(&mut self.polled, true);
        self.cell.poll(context.waker(), first)
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

// What the I/O thread needs stands together, so that few lines of memory move from thread to thread.
#[repr(C)]
pub(super) struct Cell<W: Work> {
    stage: Mutex<Stage>,
    contents: Mutex<Contents<W>>,
}

enum Stage {
    /// 1 and 2
    Submitted(Waiter),
    /// 3
    Running(Waiter),
    /// 4
    Answered,
    /// 5
    Settled,
}

/// Who is to be told of the end.
enum Waiter {
    /// A future, and the task that has polled it last, if any has.
    Future(Option<Addressee>),
    Nobody,
}

#[repr(C)]
struct Contents<W: Work> {
    /// From its end until it is settled.
    outcome: Option<Result<W::Output, Fault>>,
    /// Until it is settled.
    work: Option<W>,
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
        Arc::new(Cell {
            stage: Mutex::new(Stage::Submitted(waiter)),
            contents: Mutex::new(Contents { work: Some(work), outcome: None }),
        })
    }

    /// Step c. `false`: this is a husk.
    fn take_up(&self) -> bool {
        let mut stage = lock(&self.stage);
        match mem::replace(&mut *stage, Stage::Settled) {
            Stage::Submitted(waiter) => {
                *stage = Stage::Running(waiter);
                true
            }
            Stage::Settled => false,
            Stage::Running(_) | Stage::Answered => unreachable!("an entry is taken once"),
        }
    }

    /// Step d, up to the wake-up: that of whom it answers.
    #[must_use]
    fn answer(&self) -> Option<Addressee> {
        let mut stage = lock(&self.stage);
        let Stage::Running(waiter) = mem::replace(&mut *stage, Stage::Settled) else {
            unreachable!("only who has taken the work up ends this stage")
        };
        match waiter {
            Waiter::Future(addressee) => {
                *stage = Stage::Answered;
                addressee
            }
            Waiter::Nobody => {
                drop(stage);
                // Nobody wants it.
                let _ = self.settle();
                None
            }
        }
    }

    /// Step e, or leaves who is to be told. `first`: nobody was left before.
    fn poll(&self, waker: &Waker, first: bool) -> Poll<Result<W::Output, Fault>> {
        let mut addressee = first.then(|| Addressee::current(waker));
        let mut stage = lock(&self.stage);
        match &mut *stage {
            Stage::Submitted(Waiter::Future(last)) | Stage::Running(Waiter::Future(last)) => {
                if last.as_ref().is_some_and(|last| last.is(waker)) {
                    return Poll::Pending;
                }
                if addressee.is_none() {
                    drop(stage);
                    return self.poll(waker, true);
                }
                mem::swap(last, &mut addressee);
                drop(stage);
                // Here the one of the poll before this one is dropped.
                Poll::Pending
            }
            Stage::Answered => {
                *stage = Stage::Settled;
                drop(stage);
                Poll::Ready(self.settle())
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
            Stage::Running(_) => Stage::Running(Waiter::Nobody),
            _ => Stage::Settled,
        };
        let before = mem::replace(&mut *stage, next);
        drop(stage);
        match before {
            Stage::Submitted(_) => {
                lock(&self.contents).outcome = Some(Err(Fault::Cancelled));
                let _ = self.settle();
            }
            Stage::Answered => {
                let _ = self.settle();
            }
            Stage::Running(_) | Stage::Settled => {}
        }
    }

    /// After a step to 5: tells the work what became of it, and empties the cell.
    fn settle(&self) -> Result<W::Output, Fault> {
        let mut contents = lock(&self.contents);
        let Contents { work, outcome } = &mut *contents;
        let outcome = outcome.take().expect("who settles has the outcome there");
        if let Some(work) = work {
            contain(|| work.settle(outcome.as_ref()));
        }
        // Dropped by itself, so that a panic in that stays here, too.
        contain(|| *work = None);
        outcome
    }
}

impl<W: Work> Job for Cell<W> {
    fn run(&self) -> Option<Addressee> {
        if !self.take_up() {
            return None;
        }
        let mut contents = lock(&self.contents);
        let Contents { work, outcome } = &mut *contents;
        let work = work.as_mut().expect("a work is settled after it has run");
        *outcome = Some(contain(|| work.run()).ok_or(Fault::Panicked));
        contain(|| work.ran());
        drop(contents);
        self.answer()
    }

    fn refuse(&self, fault: Fault) {
        if self.take_up() {
            lock(&self.contents).outcome = Some(Err(fault));
            self.answer().into_iter().for_each(Addressee::wake);
        }
    }
}
