//! Real threads: nothing waits while one is idle, and each job is settled once in every order of events.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake};

use super::{Log, Noted};
use crate::aio_pool::{Fault, Job, Operation, Pool, Port};

pub(super) fn wait_for<J: Job>(operation: Operation<J>) -> Result<J::Output, Fault> {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(operation)
}

/// Submits a job that runs until it receives its output.
pub(super) fn blocked(pool: &Pool, log: &Log) -> (Operation<Noted>, mpsc::Sender<u32>) {
    let (begins, begun) = mpsc::channel();
    let (release, released) = mpsc::channel();
    let operation = pool.submit(
        Port::new(),
        log.job(move || {
            begins.send(()).unwrap();
            released.recv().unwrap()
        }),
    );
    begun.recv().unwrap();
    (operation, release)
}

#[test]
fn a_thread_that_blocks_holds_up_no_other() {
    let pool = Pool::builder().threads(2).build();
    let log = Log::default();
    let (held, release) = blocked(&pool, &log);
    let others: Vec<_> = (0..100).map(|number| pool.submit(Port::new(), log.job(move || number))).collect();
    for (number, operation) in others.into_iter().enumerate() {
        assert_eq!(wait_for(operation).unwrap() as usize, number);
    }
    release.send(7).unwrap();
    assert_eq!(wait_for(held).unwrap(), 7);
}

/// The task that waits for the first job of a batch is woken although the second job blocks the thread.
#[test]
fn a_completion_does_not_wait_for_a_job_that_blocks() {
    struct SendsOnWake(mpsc::Sender<()>);
    impl Wake for SendsOnWake {
        fn wake(self: Arc<Self>) {
            self.0.send(()).unwrap();
        }
    }
    let pool = Pool::builder().threads(1).build();
    let log = Log::default();
    // The pool takes short jobs in batches.
    for number in 0..200 {
        wait_for(pool.submit(Port::new(), log.job(move || number))).unwrap();
    }
    let (held, release_held) = blocked(&pool, &log);
    let (tells, told) = mpsc::channel();
    let (release, released) = mpsc::channel();
    let mut first = pool.submit(Port::new(), log.job(|| 7));
    let second = pool.submit(Port::new(), log.job(move || released.recv().unwrap()));
    let waker = Arc::new(SendsOnWake(tells)).into();
    assert!(Pin::new(&mut first).poll(&mut Context::from_waker(&waker)).is_pending());
    release_held.send(6).unwrap();
    told.recv().unwrap();
    assert_eq!(wait_for(first).unwrap(), 7);
    release.send(8).unwrap();
    assert_eq!((wait_for(held).unwrap(), wait_for(second).unwrap()), (6, 8));
}

#[test]
fn a_thread_without_jobs_takes_those_of_others() {
    let pool = Pool::builder().threads(2).build();
    let log = Log::default();
    let (first, release_first) = blocked(&pool, &log);
    let (second, release_second) = blocked(&pool, &log);
    // Two in each queue now; the first thread stays blocked.
    let others: Vec<_> = (0..4).map(|number| pool.submit(Port::new(), log.job(move || number))).collect();
    release_second.send(8).unwrap();
    for operation in others {
        wait_for(operation).unwrap();
    }
    release_first.send(7).unwrap();
    assert_eq!(wait_for(first).unwrap(), 7);
    assert_eq!(wait_for(second).unwrap(), 8);
}

#[test]
fn jobs_run_on_named_threads() {
    struct Name;
    impl Job for Name {
        type Output = Option<String>;
        fn run(&mut self) -> Option<String> {
            std::thread::current().name().map(str::to_owned)
        }
        fn settle(&mut self, _: Result<&Option<String>, &Fault>) {}
    }
    let pool = Pool::builder().threads(1).build();
    assert_eq!(wait_for(pool.submit(Port::new(), Name)).unwrap().as_deref(), Some("dyntrace-io-1"));
}

/// Many tasks submit to few threads through narrow queues; some give up before, some while, some after the job runs.
#[test]
fn each_job_is_settled_once_in_a_crowd() {
    struct Counted(Arc<AtomicUsize>);
    impl Job for Counted {
        type Output = ();
        fn run(&mut self) {}
        fn settle(&mut self, _: Result<&(), &Fault>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    const TASKS: usize = if cfg!(miri) { 4 } else { 32 };
    const EACH: usize = if cfg!(miri) { 5 } else { 300 };

    let settled: Arc<[Arc<AtomicUsize>]> = (0..TASKS * EACH).map(|_| Arc::default()).collect();
    let pool = Pool::builder().threads(3).bound(4).build();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..TASKS)
            .map(|task| {
                let (pool, settled) = (pool.clone(), Arc::clone(&settled));
                tokio::spawn(async move {
                    for number in 0..EACH {
                        let job = Counted(Arc::clone(&settled[task * EACH + number]));
                        let patience = (task + number) % 5;
                        if patience == 4 {
                            pool.submit_detached(Port::new(), job);
                        } else if patience == 3 {
                            pool.submit(Port::new(), job).await.unwrap();
                        } else {
                            give_up_after(patience, pool.submit(Port::new(), job)).await;
                        }
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    // Detached jobs may still be queued: they are refused.
    pool.shutdown();
    for (number, count) in settled.iter().enumerate() {
        assert_eq!(count.load(Ordering::SeqCst), 1, "job {number}");
    }
}

/// Polls an operation at most `polls` times, and yields in between.
async fn give_up_after(polls: usize, mut operation: Operation<impl Job>) {
    for _ in 0..polls {
        let ready =
            std::future::poll_fn(|context| Poll::Ready(std::pin::Pin::new(&mut operation).poll(context).is_ready()));
        if ready.await {
            return;
        }
        tokio::task::yield_now().await;
    }
}
