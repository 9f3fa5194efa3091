//! Models: every order of steps of a few threads. A lost wake-up or a stranded job shows as a deadlock.
//!
//! The models of the cell are exhaustive. Those of a whole pool let a thread be interrupted [`INTERRUPTED`] times: that
//! is where such bugs show, and takes seconds instead of hours.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use super::delivery::tell_all;
use super::job::Job;
use super::operation::{Cell, Operation};
use super::{Fault, Pool, Port, Work};
use crate::sync::{Condvar, Mutex, lock, thread, wait};

const INTERRUPTED: usize = 4;

fn model_of_pool(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(INTERRUPTED);
    builder.check(model);
}

/// Counts how often works are settled. Only read when all is over, so `std`'s atomic does.
#[derive(Clone, Default)]
struct Settled(Arc<AtomicUsize>);

impl Settled {
    fn work<F: FnMut() + Send + 'static>(&self, run: F) -> Counted<F> {
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

impl<F: FnMut() + Send + 'static> Work for Counted<F> {
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
    bell: Condvar,
}

impl Signal {
    fn give(&self) {
        *lock(&self.given) = true;
        self.bell.notify_one();
    }

    fn take(&self) {
        let mut given = lock(&self.given);
        while !*given {
            given = wait(&self.bell, given);
        }
        *given = false;
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.give();
    }
}

fn poll<W: Work>(operation: &mut Operation<W>, waker: &Waker) -> Poll<Result<W::Output, Fault>> {
    Pin::new(operation).poll(&mut Context::from_waker(waker))
}

fn wait_for<W: Work>(mut operation: Operation<W>) -> Result<W::Output, Fault> {
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
        let cell = Cell::awaited(settled.work(|| ()));
        let operation = Operation::new(Arc::clone(&cell), None);
        let worker = thread::spawn(move || _ = tell_all(cell.run()));
        assert!(wait_for(operation).is_ok());
        worker.join().unwrap();
        assert_eq!(settled.times(), 1);
    });
}

#[test]
fn loom_cell_completion_wakes_the_last_of_two_tasks() {
    loom::model(|| {
        let settled = Settled::default();
        let cell = Cell::awaited(settled.work(|| ()));
        let mut operation = Operation::new(Arc::clone(&cell), None);
        let worker = thread::spawn(move || _ = tell_all(cell.run()));
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
        let cell = Cell::awaited(settled.work(thread::yield_now));
        let mut operation = Operation::new(Arc::clone(&cell), None);
        let worker = thread::spawn(move || _ = tell_all(cell.run()));
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
        let cell = Cell::awaited(settled.work(|| unreachable!("it was refused")));
        let operation = Operation::new(Arc::clone(&cell), None);
        let other = thread::spawn(move || cell.refuse(Fault::ShutDown));
        drop(operation);
        other.join().unwrap();
        assert_eq!(settled.times(), 1);
    });
}

/// One worker goes to sleep and wakes again while works come.
#[test]
fn loom_pool_one_worker_misses_nothing() {
    model_of_pool(|| {
        let settled = Settled::default();
        let pool = Pool::builder().threads(1).build();
        let first = pool.submit(Port::new(), settled.work(|| ()));
        let second = pool.submit(Port::new(), settled.work(|| ()));
        assert!(wait_for(second).is_ok());
        assert!(wait_for(first).is_ok());
        assert!(wait_for(pool.submit(Port::new(), settled.work(|| ()))).is_ok());
        drop(pool);
        assert_eq!(settled.times(), 3);
    });
}

/// A work that is blocked until another one has run: in whichever queue that is, the other thread must come for it.
#[test]
fn loom_pool_a_blocked_worker_strands_nothing() {
    model_of_pool(|| strand(Pool::builder().threads(2).build()));
}

/// The same, and what unblocks the first may have to stand in line.
#[test]
fn loom_pool_a_blocked_worker_strands_nothing_in_line() {
    model_of_pool(|| strand(Pool::builder().threads(2).bound(1).build()));
}

fn strand(pool: Pool) {
    let settled = Settled::default();
    let signal = Arc::new(Signal::default());
    let blocked = pool.submit(Port::new(), {
        let signal = Arc::clone(&signal);
        settled.work(move || signal.take())
    });
    pool.submit_detached(Port::new(), settled.work(|| ()));
    pool.submit_detached(Port::new(), settled.work(move || signal.give()));
    assert!(wait_for(blocked).is_ok());
    pool.shutdown();
    assert_eq!(settled.times(), 3);
}

/// An operation in line is dropped while the one before it leaves the queue.
#[test]
fn loom_pool_line_is_left_while_it_moves() {
    model_of_pool(|| {
        let settled = Settled::default();
        let pool = Pool::builder().threads(1).bound(1).build();
        let first = pool.submit(Port::new(), settled.work(|| ()));
        let second = pool.submit(Port::new(), settled.work(|| ()));
        let third = pool.submit(Port::new(), settled.work(|| ()));
        drop(second);
        assert!(wait_for(third).is_ok());
        assert!(wait_for(first).is_ok());
        drop(pool);
        assert_eq!(settled.times(), 3);
    });
}

/// Works come while another thread shuts the pool down.
#[test]
fn loom_pool_shutdown_and_submit() {
    model_of_pool(|| {
        let settled = Settled::default();
        let pool = Pool::builder().threads(1).build();
        let submitter = {
            let (pool, settled) = (pool.clone(), settled.clone());
            thread::spawn(move || {
                let outcome = wait_for(pool.submit(Port::new(), settled.work(|| ())));
                assert!(matches!(outcome, Ok(()) | Err(Fault::ShutDown)));
                pool.submit_detached(Port::new(), settled.work(|| ()));
            })
        };
        pool.shutdown();
        submitter.join().unwrap();
        assert_eq!(settled.times(), 2);
    });
}

/// The last handle goes while the worker is anywhere between two jobs.
#[test]
fn loom_pool_works_off_what_is_queued_when_the_last_handle_goes() {
    model_of_pool(|| {
        let settled = Settled::default();
        let pool = Pool::builder().threads(1).bound(1).build();
        let first = pool.submit(Port::new(), settled.work(|| ()));
        let second = pool.submit(Port::new(), settled.work(|| ()));
        drop(pool);
        assert!(wait_for(first).is_ok());
        assert!(wait_for(second).is_ok());
        assert_eq!(settled.times(), 2);
    });
}
