//! Each stage of an operation, stepped by hand. The letters are the steps of `operation.rs`.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;

use super::{Log, Noted, stepped};
use crate::aio_pool::{Fault, Operation, Pool, Port};

fn poll(operation: &mut Operation<Noted>, waker: &Waker) -> Poll<Result<u32, Fault>> {
    Pin::new(operation).poll(&mut Context::from_waker(waker))
}

fn outcome(operation: &mut Operation<Noted>) -> Result<u32, Fault> {
    match poll(operation, Waker::noop()) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("there is no outcome yet"),
    }
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn an_operation_can_be_moved_between_threads_and_polled_where_it_stands() {
    fn check<T: Send + Sync + Unpin>() {}
    check::<Operation<Noted>>();
    check::<Pool>();
}

#[test]
fn settled_by_the_task_when_it_takes_the_outcome() {
    let (pool, log) = (stepped(), Log::default());
    let mut operation = pool.submit(Port::new(), log.job(|| 7));
    assert!(poll(&mut operation, Waker::noop()).is_pending());
    assert!(pool.run_one());
    assert!(log.lines().is_empty(), "completed is not yet settled");
    assert_eq!(outcome(&mut operation).unwrap(), 7);
    assert_eq!(log.lines(), ["Ok(7)"]);
    drop(operation);
    assert_eq!(log.lines(), ["Ok(7)"]);
    assert!(!pool.run_one());
}

#[test]
#[should_panic(expected = "polled again")]
fn polled_again_after_the_outcome() {
    let pool = stepped();
    let mut operation = pool.submit(Port::new(), Log::default().job(|| 7));
    pool.run_one();
    let _ = outcome(&mut operation);
    let _ = outcome(&mut operation);
}

#[test]
fn dropped_in_the_queue() {
    let (pool, log) = (stepped(), Log::default());
    drop(pool.submit(Port::new(), log.job(|| unreachable!("it was cancelled"))));
    assert_eq!(log.lines(), ["Err(Cancelled)"]);
    assert!(pool.run_one(), "the cancelled job is taken out");
    assert!(!pool.run_one());
    assert_eq!(log.lines(), ["Err(Cancelled)"]);
}

#[test]
fn dropped_while_it_waits() {
    let pool = Pool::builder().threads(0).bound(1).build();
    let log = Log::default();
    let mut queued = pool.submit(Port::new(), log.job(|| 1));
    let waiting = pool.submit(Port::new(), log.job(|| unreachable!("it was cancelled")));
    let mut next = pool.submit(Port::new(), log.job(|| 3));
    drop(waiting);
    assert_eq!(log.lines(), ["Err(Cancelled)"]);
    assert!(pool.run_one());
    assert!(pool.run_one(), "the next one has moved up");
    assert!(!pool.run_one(), "and the one that went away left nothing");
    assert_eq!(outcome(&mut queued).unwrap(), 1);
    assert_eq!(outcome(&mut next).unwrap(), 3);
}

#[test]
fn dropped_in_the_queue_after_it_waited() {
    let pool = Pool::builder().threads(0).bound(1).build();
    let log = Log::default();
    let _first = pool.submit(Port::new(), log.job(|| 1));
    let second = pool.submit(Port::new(), log.job(|| unreachable!("it was cancelled")));
    assert!(pool.run_one());
    drop(second);
    assert_eq!(log.lines(), ["Err(Cancelled)"]);
    assert!(pool.run_one(), "the cancelled job is taken out");
    assert!(!pool.run_one());
}

#[test]
fn dropped_while_it_runs() {
    let (pool, log) = (stepped(), Log::default());
    let slot: Arc<Mutex<Option<Operation<Noted>>>> = Arc::default();
    let inner = (Arc::clone(&slot), log.clone());
    let operation = pool.submit(
        Port::new(),
        log.job(move || {
            drop(inner.0.lock().unwrap().take());
            assert!(inner.1.lines().is_empty(), "a thread that drops it now leaves the rest to the worker");
            7
        }),
    );
    *slot.lock().unwrap() = Some(operation);
    assert!(pool.run_one());
    assert_eq!(log.lines(), ["Ok(7)"]);
}

#[test]
fn dropped_when_it_has_completed() {
    let (pool, log) = (stepped(), Log::default());
    let operation = pool.submit(Port::new(), log.job(|| 7));
    pool.run_one();
    assert!(log.lines().is_empty());
    drop(operation);
    assert_eq!(log.lines(), ["Ok(7)"]);
}

#[test]
fn detached() {
    let (pool, log) = (stepped(), Log::default());
    pool.submit_detached(Port::new(), log.job(|| 7));
    assert!(log.lines().is_empty());
    assert!(pool.run_one());
    assert_eq!(log.lines(), ["Ok(7)"]);
}

/// Has a slow job done when it is dropped.
struct Late(Pool, Log);

impl Drop for Late {
    fn drop(&mut self) {
        let job = self.1.job(|| {
            thread::sleep(Duration::from_millis(2));
            7
        });
        self.0.submit_detached(Port::new(), job);
    }
}

/// Also for that of a task which the runtime drops after its wake task. The order depends on the numbers of both.
#[test]
fn the_end_of_a_runtime_waits_for_detached_jobs() {
    for round in 0..32 {
        let mut builder = if round % 2 == 0 { Builder::new_current_thread() } else { Builder::new_multi_thread() };
        let (pool, log) = (Pool::builder().threads(1).build(), Log::default());
        let runtime = builder.worker_threads(2).build().unwrap();
        runtime.block_on(runtime.spawn(pool.submit(Port::new(), Log::default().job(|| 1)))).unwrap().unwrap();
        let late = Late(pool.clone(), log.clone());
        runtime.spawn(async move {
            let _late = late;
            std::future::pending::<()>().await;
        });
        drop(runtime);
        assert_eq!(log.lines(), ["Ok(7)"]);
    }
}

#[test]
fn the_task_that_polled_last_is_woken() {
    let pool = stepped();
    let mut operation = pool.submit(Port::new(), Log::default().job(|| 7));
    let (first, last) = (Arc::new(Count::default()), Arc::new(Count::default()));
    assert!(poll(&mut operation, &first.clone().into()).is_pending());
    assert!(poll(&mut operation, &last.clone().into()).is_pending());
    assert_eq!(Arc::strong_count(&first), 1, "its waker is given back");
    pool.run_one();
    assert_eq!(first.0.load(Ordering::SeqCst), 0);
    assert_eq!(last.0.load(Ordering::SeqCst), 1);
    assert_eq!(Arc::strong_count(&last), 1);
}

#[test]
fn waiting_jobs_move_up_in_order() {
    let pool = Pool::builder().threads(0).bound(2).build();
    let log = Log::default();
    let ran = Log::default();
    let mut operations: Vec<_> = (0..5)
        .map(|number| {
            let ran = ran.clone();
            pool.submit(
                Port::new(),
                log.job(move || {
                    ran.note(number.to_string());
                    number
                }),
            )
        })
        .collect();
    while pool.run_one() {}
    assert_eq!(ran.lines(), ["0", "1", "2", "3", "4"]);
    for (number, operation) in operations.iter_mut().enumerate() {
        assert_eq!(outcome(operation).unwrap() as usize, number);
    }
}

#[test]
fn jobs_may_submit_jobs() {
    let (pool, log) = (stepped(), Log::default());
    let (inner_pool, inner_log) = (pool.clone(), log.clone());
    pool.submit_detached(
        Port::new(),
        log.job(move || {
            inner_pool.submit_detached(Port::new(), inner_log.job(|| 2));
            1
        }),
    );
    while pool.run_one() {}
    assert_eq!(log.lines(), ["Ok(1)", "Ok(2)"]);
}
