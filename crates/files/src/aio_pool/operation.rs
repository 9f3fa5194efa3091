//! The life of one operation, from its submission until its job is settled.
//!
//! Three parties share the *cell* of an operation: its future, the queue, and the worker that takes the job. The rights of each depend
//! on the stage, which changes only under the stage's lock:
//!
//! 1. **waiting**: the queues are full; the job waits for room.
//! 2. **queued**: the job is in a worker's queue or batch. The cell does not tell 1 and 2 apart: nothing runs the job yet.
//! 3. **running**: the worker owns the job and its outcome.
//! 4. **completed**: the future owns the job and its outcome.
//! 5. **settled**: the cell is empty, or the party that made this step is emptying it.
//!
//! The transitions:
//!
//! - a. The submitting thread makes the cell, in 1 or 2. A cell without a future never has a task to wake.
//! - b. 1 → 2: a thread takes another job out of the queues, and moves this one in. The cell does not notice.
//! - c. 1, 2 → 3: the worker starts the job, or a thread that refuses it (shutdown, no thread) takes it to fail it.
//! - d. 3 → 4: the job has ended or is refused, and there is a future: its task is woken, soon ([`completions`](super::completions)).
//!   Without a future, 3 → 5: the worker settles.
//! - e. 4 → 5: the task polls, settles, and takes the outcome.
//! - f. The future is dropped. In 1 and 2, → 5: the dropping thread settles with `Cancelled`. In 1 it also removes the job; in 2 the
//!   worker that takes the cancelled job drops it. In 3: the worker wakes no task any more, and the task's row in the table of tasks, which
//!   only the task's thread may change, no longer has a file operation. In 4, → 5: the dropping thread settles with
//!   the outcome. In 5: nothing is left to do.
//!
//! The job does not move in memory between a and its settlement. One thread makes the step to 5, under the stage's lock, and settles.
//! So each job is settled once. In 3 and after a step to 5 only one thread may touch the contents, so it never waits for their
//! lock. No wake-up is lost: the task leaves its waker under the stage's lock while the stage is before 4, and the step to 4 takes the
//! waker in the same hold of the lock.
//!
//! Foreign code (jobs, wakers, and their destructors) never runs while the stage is locked.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use dyntrace_probes::contain::contain;
use dyntrace_probes::primitives::{Mutex, lock};

use super::admission_queue::Ticket;
use super::counts::Counts;
use super::delivery::TaskWaker;
use super::job::{Fault, Job};
use super::runnable::Runnable;
use super::runtimes;
use super::shared::PoolShared;
use dyntrace_processes::task_table;

/// A submitted job: a future of its outcome, for any executor.
///
/// The job runs whether or not this is polled.
///
/// # Panics
///
/// If polled again after it was ready.
///
/// # Cancellation
///
/// If the operation is dropped before an I/O thread has started the job, the job never runs. If it is dropped later, the job runs to its
/// end and its output is dropped. In both cases the pool calls [`Job::settle`]. If the operation is leaked (as by
/// [`std::mem::forget`]), the job may run, but is not settled.
#[must_use = "dropping an operation cancels it; use `submit_detached` for jobs that are not awaited"]
pub struct Operation<J: Job> {
    cell: Arc<OperationCell<J>>,
    /// Set if the job found the queues full and had to wait.
    waiting: Option<(Arc<PoolShared>, Ticket)>,
    polled: bool,
}

impl<J: Job> Operation<J> {
    pub(super) fn new(cell: Arc<OperationCell<J>>, waiting: Option<(Arc<PoolShared>, Ticket)>) -> Self {
        Operation { cell, waiting, polled: false }
    }
}

impl<J: Job> Future for Operation<J> {
    type Output = Result<J::Output, Fault>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let first = !mem::replace(&mut self.polled, true);
        self.cell.poll(context.waker(), first)
    }
}

impl<J: Job> Drop for Operation<J> {
    fn drop(&mut self) {
        self.cell.abandon();
        if let Some((shared, ticket)) = &self.waiting {
            shared.cancel_waiting(*ticket);
        }
    }
}

// The fields that the I/O thread needs stand together, so that few cache lines move between threads.
#[repr(C)]
pub(super) struct OperationCell<J: Job> {
    stage: Mutex<Stage>,
    contents: Mutex<Contents<J>>,
}

enum Stage {
    /// 1 and 2
    Submitted(Waiter),
    /// 3
    Running(Waiter),
    /// 4
    Completed,
    /// 5
    Settled,
}

/// The receiver of the outcome.
enum Waiter {
    /// A future, and the task that has polled it last, if any has.
    Future(Option<TaskWaker>),
    Nothing,
}

#[repr(C)]
struct Contents<J: Job> {
    /// From the job's end until it is settled.
    outcome: Option<Result<J::Output, Fault>>,
    /// Until it is settled.
    job: Option<J>,
}

impl<J: Job> OperationCell<J> {
    /// Step a, with a future to come.
    pub fn awaited(job: J) -> Arc<Self> {
        OperationCell::new(job, Waiter::Future(None))
    }

    /// Step a, without a future.
    pub fn detached(job: J) -> Arc<Self> {
        OperationCell::new(job, Waiter::Nothing)
    }

    fn new(job: J, waiter: Waiter) -> Arc<Self> {
        Arc::new(OperationCell {
            stage: Mutex::new(Stage::Submitted(waiter)),
            contents: Mutex::new(Contents { job: Some(job), outcome: None }),
        })
    }

    /// Step c. Returns `false` for a cancelled job.
    fn start(&self) -> bool {
        let mut stage = lock(&self.stage);
        match mem::replace(&mut *stage, Stage::Settled) {
            Stage::Submitted(waiter) => {
                *stage = Stage::Running(waiter);
                true
            }
            Stage::Settled => false,
            Stage::Running(_) | Stage::Completed => unreachable!("a job is taken once"),
        }
    }

    /// Step d. Returns the task to wake.
    #[must_use]
    fn complete(&self) -> Option<TaskWaker> {
        let mut stage = lock(&self.stage);
        let Stage::Running(waiter) = mem::replace(&mut *stage, Stage::Settled) else {
            unreachable!("only the thread that started the job ends this stage")
        };
        match waiter {
            Waiter::Future(waker) => {
                *stage = Stage::Completed;
                waker
            }
            Waiter::Nothing => {
                drop(stage);
                // Nothing waits for the outcome.
                let _ = self.settle();
                None
            }
        }
    }

    /// Step e, or leaves the task's waker. `first`: no waker was left before.
    fn poll(&self, waker: &Waker, first: bool) -> Poll<Result<J::Output, Fault>> {
        let mut task_waker = first.then(|| runtimes::task_waker(waker));
        let mut stage = lock(&self.stage);
        match &mut *stage {
            Stage::Submitted(Waiter::Future(last)) | Stage::Running(Waiter::Future(last)) => {
                if last.as_ref().is_some_and(|last| last.is(waker)) {
                    return Poll::Pending;
                }
                if task_waker.is_none() {
                    drop(stage);
                    return self.poll(waker, true);
                }
                mem::swap(last, &mut task_waker);
                drop(stage);
                // Here the waker of the poll before this one is dropped.
                Poll::Pending
            }
            Stage::Completed => {
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
            Stage::Running(_) => Stage::Running(Waiter::Nothing),
            _ => Stage::Settled,
        };
        let before = mem::replace(&mut *stage, next);
        drop(stage);
        match before {
            Stage::Submitted(_) => {
                lock(&self.contents).outcome = Some(Err(Fault::Cancelled));
                let _ = self.settle();
            }
            Stage::Completed => {
                let _ = self.settle();
            }
            Stage::Running(_) => wait_is_given_up(),
            Stage::Settled => {}
        }
    }

    /// After a step to 5: passes the outcome to the job, and empties the cell.
    fn settle(&self) -> Result<J::Output, Fault> {
        let mut contents = lock(&self.contents);
        if J::hears_outcome() {
            contents.tell_outcome();
        }
        // Dropped on its own, so that a panic in the destructor stays here, too.
        contain(|| contents.job = None);
        contents.outcome.take().expect("the outcome is stored before a step to 5")
    }
}

impl<J: Job> Contents<J> {
    /// Passes the outcome to the job. It stays in its place: one that holds metadata is large, and each move of it is a copy.
    fn tell_outcome(&mut self) {
        if let (Some(job), Some(outcome)) = (&mut self.job, &self.outcome) {
            contain(|| job.settle(outcome.as_ref()));
        }
    }
}

/// Notes that the current task, if it waited for an operation, waits no more. The operation itself is with the worker, so this cannot tell
/// which one the task's row has: if it is another one, the row has none until the next wait.
#[cold]
fn wait_is_given_up() {
    if task_table::is_started() {
        task_table::wait_of_operation_ends(None);
    }
}

impl<J: Job> Runnable for OperationCell<J> {
    fn run(&self, counts: &mut Counts) -> Option<TaskWaker> {
        if !self.start() {
            return None;
        }
        let mut contents = lock(&self.contents);
        let Contents { job, outcome } = &mut *contents;
        let job = job.as_mut().expect("a job is settled after it has run");
        // Stored within the closure: an outcome that holds metadata is large, and each return of it is a copy.
        if contain(|| *outcome = Some(Ok(job.run()))).is_none() {
            *outcome = Some(Err(Fault::Panicked));
        }
        // Before `ran`: after that call the compiler would have to read the outcome again.
        let output = outcome.as_ref().and_then(|outcome| outcome.as_ref().ok());
        contain(|| job.count(output, counts));
        contain(|| job.ran());
        drop(contents);
        self.complete()
    }

    fn refuse(&self, fault: Fault) {
        if self.start() {
            lock(&self.contents).outcome = Some(Err(fault));
            self.complete().into_iter().for_each(TaskWaker::wake);
        }
    }
}
