//! Models: every order of steps of a few threads. A lost wake-up or a stranded job shows as a deadlock.
//!
//! The models of the cell are exhaustive. Those of a whole pool preempt threads at most [`PREEMPTIONS`] times. That is
//! enough to show such bugs, and a model takes seconds instead of hours.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use dyntrace_probes::primitives::{Condvar, Mutex, lock, thread, wait};

use super::counts::Counts;
use super::delivery::wake_all;
use super::job::{Fault, Job};
use super::operation::{Operation, OperationCell};
use super::pool::Pool;
use super::port::Port;
use super::runnable::Runnable;

const PREEMPTIONS: usize = 4;

fn model_of_pool(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(model);
}

/// Counts how often jobs are settled. Only read at the end, so `std`'s atomic does.
#[derive(Clone, Default)]
struct Settled(Arc<AtomicUsize>);

impl Settled {
    fn job<F: FnMut() + Send + 'static>(&self, run: F) -> Counted<F> {
        Counted { run, settled: self.clone() }
    }

    fn times(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

struct Counted<F> {
    run: F,
    settled: Settled,
}

impl<F: FnMut() + Send + 'static> Job for Counted<F> {
    type Output = ();

    fn run(&mut self) {
        (self.run)();
    }

    fn settle(&mut self, _: Result<&(), &Fault>) {
        self.settled.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A signal that one thread waits for; as a waker, the task's.
#[derive(Default)]
struct Signal {
    given: Mutex<bool>,
    condvar: Condvar,
}

impl Signal {
    fn give(&self) {
        *lock(&self.given) = true;
        self.condvar.notify_one();
    }

    fn take(&self) {
        let mut given = lock(&self.given);
        while !*given {
            given = wait(&self.condvar, given);
        }
        *given = false;
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.give();
    }
}

fn poll<J: Job>(operation: &mut Operation<J>, waker: &Waker) -> Poll<Result<J::Output, Fault>> {
    Pin::new(operation).poll(&mut Context::from_waker(waker))
}

fn wait_for<J: Job>(mut operation: Operation<J>) -> Result<J::Output, Fault> {
    let woken = Arc::new(Signal::default());
    let waker = Waker::from(Arc::clone(&woken));
    loop {
        match poll(&mut operation, &waker) {
            Poll::Ready(outcome) => return outcome,
            Poll::Pending => woken.take(),
        }
    }
}

#[test]
fn loom_cell_completion_wakes_the_task() {
    loom::model(|| {
        let settled = Settled::default();
        let cell = OperationCell::awaited(settled.job(|| ()));
        let operation = Operation::new(Arc::clone(&cell), None);
        let worker = thread::spawn(move || _ = wake_all(cell.run(&mut Counts::default())));
        assert!(wait_for(operation).is_ok());
        worker.join().unwrap();
        assert_eq!(settled.times(), 1);
    });
}

#[test]
fn loom_cell_completion_wakes_the_last_of_two_tasks() {
    loom::model(|| {
        let settled = Settled::default();
        let cell = OperationCell::awaited(settled.job(|| ()));
        let mut operation = Operation::new(Arc::clone(&cell), None);
        let worker = thread::spawn(move || _ = wake_all(cell.run(&mut Counts::default())));
        if poll(&mut operation, &Arc::new(Signal::default()).into()).is_pending() {
            assert!(wait_for(operation).is_ok());
        }
        worker.join().unwrap();
        assert_eq!(settled.times(), 1);
    });
}

#[test]
fn loom_cell_dropped_at_any_time() {
    loom::model(|| {
        let settled = Settled::default();
        let cell = OperationCell::awaited(settled.job(thread::yield_now));
        let mut operation = Operation::new(Arc::clone(&cell), None);
        let worker = thread::spawn(move || _ = wake_all(cell.run(&mut Counts::default())));
        let _ = poll(&mut operation, Waker::noop());
        drop(operation);
        worker.join().unwrap();
        assert_eq!(settled.times(), 1);
    });
}

#[test]
fn loom_cell_dropped_while_it_is_refused() {
    loom::model(|| {
        let settled = Settled::default();
        let cell = OperationCell::awaited(settled.job(|| unreachable!("it was refused")));
        let operation = Operation::new(Arc::clone(&cell), None);
        let other = thread::spawn(move || cell.refuse(Fault::ShutDown));
        drop(operation);
        other.join().unwrap();
        assert_eq!(settled.times(), 1);
    });
}

/// One worker goes to sleep and wakes again while jobs come.
#[test]
fn loom_pool_one_worker_misses_nothing() {
    model_of_pool(|| {
        let settled = Settled::default();
        let pool = Pool::builder().threads(1).build();
        let first = pool.submit(Port::new(), settled.job(|| ()));
        let second = pool.submit(Port::new(), settled.job(|| ()));
        assert!(wait_for(second).is_ok());
        assert!(wait_for(first).is_ok());
        assert!(wait_for(pool.submit(Port::new(), settled.job(|| ()))).is_ok());
        drop(pool);
        assert_eq!(settled.times(), 3);
    });
}

/// A job blocks until another one has run. The other thread must take that one, from either queue.
#[test]
fn loom_pool_a_blocked_worker_strands_nothing() {
    model_of_pool(|| strand(Pool::builder().threads(2).build()));
}

/// The same, and the job that unblocks the first may have to wait for room.
#[test]
fn loom_pool_a_blocked_worker_strands_nothing_that_waits() {
    model_of_pool(|| strand(Pool::builder().threads(2).bound(1).build()));
}

fn strand(pool: Pool) {
    let settled = Settled::default();
    let signal = Arc::new(Signal::default());
    let blocked = pool.submit(Port::new(), {
        let signal = Arc::clone(&signal);
        settled.job(move || signal.take())
    });
    pool.submit_detached(Port::new(), settled.job(|| ()));
    pool.submit_detached(Port::new(), settled.job(move || signal.give()));
    assert!(wait_for(blocked).is_ok());
    pool.shutdown();
    assert_eq!(settled.times(), 3);
}

/// A waiting operation is dropped while the one before it leaves the queue.
#[test]
fn loom_pool_a_waiting_operation_is_dropped_while_others_move() {
    model_of_pool(|| {
        let settled = Settled::default();
        let pool = Pool::builder().threads(1).bound(1).build();
        let first = pool.submit(Port::new(), settled.job(|| ()));
        let second = pool.submit(Port::new(), settled.job(|| ()));
        let third = pool.submit(Port::new(), settled.job(|| ()));
        drop(second);
        assert!(wait_for(third).is_ok());
        assert!(wait_for(first).is_ok());
        drop(pool);
        assert_eq!(settled.times(), 3);
    });
}

/// Jobs come while another thread shuts the pool down.
#[test]
fn loom_pool_shutdown_and_submit() {
    model_of_pool(|| {
        let settled = Settled::default();
        let pool = Pool::builder().threads(1).build();
        let submitter = {
            let (pool, settled) = (pool.clone(), settled.clone());
            thread::spawn(move || {
                let outcome = wait_for(pool.submit(Port::new(), settled.job(|| ())));
                assert!(matches!(outcome, Ok(()) | Err(Fault::ShutDown)));
                pool.submit_detached(Port::new(), settled.job(|| ()));
            })
        };
        pool.shutdown();
        submitter.join().unwrap();
        assert_eq!(settled.times(), 2);
    });
}

/// The last handle is dropped while the worker is at any step between two jobs.
#[test]
fn loom_pool_runs_queued_jobs_when_the_last_handle_goes() {
    model_of_pool(|| {
        let settled = Settled::default();
        let pool = Pool::builder().threads(1).bound(1).build();
        let first = pool.submit(Port::new(), settled.job(|| ()));
        let second = pool.submit(Port::new(), settled.job(|| ()));
        drop(pool);
        assert!(wait_for(first).is_ok());
        assert!(wait_for(second).is_ok());
        assert_eq!(settled.times(), 2);
    });
}
