//! Pools of several shards: what they have together, and what each has for itself.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

use super::threads::wait_for;
use super::{Log, Noted};
use crate::aio_pool::{Fault, Job, Lane, Operation, Pool, Port};
use dyntrace_processes::process::thread_number;

/// Calls `submit` on a thread of each of two shards, which a pool of 16 threads has.
fn in_both_shards<R: Send>(submit: impl Fn() -> R + Sync) -> [R; 2] {
    [0, 1].map(|shard| {
        thread::scope(|scope| {
            // Threads that are not of this shard keep their numbers until there is one.
            let (answers, answer) = mpsc::channel();
            let mut others = Vec::new();
            loop {
                let (keeper, kept) = mpsc::channel::<()>();
                let (answers, submit) = (answers.clone(), &submit);
                scope.spawn(move || {
                    let submitted = (thread_number() % 2 == shard).then(submit);
                    answers.send(submitted).unwrap();
                    let _ = kept.recv();
                });
                others.push(keeper);
                if let Some(submitted) = answer.recv().unwrap() {
                    return submitted;
                }
            }
        })
    })
}

#[test]
fn a_job_runs_whichever_thread_submits_it() {
    let (pool, log) = (Pool::builder().threads(16).build(), Log::default());
    for operation in in_both_shards(|| pool.submit(Port::new(), log.job(|| 7))) {
        assert_eq!(wait_for(operation).unwrap(), 7);
    }
    let metrics = pool.metrics();
    assert_eq!((metrics.fast.operations, metrics.fast.threads), (2, 2), "one thread of each shard");
    // A thread counts what it did when it looks for more.
    while pool.metrics().commands.first().is_none_or(|noted| noted.operations < 2) {
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn all_queues_together_have_the_bound() {
    let pool = Pool::builder().threads(16).slow_threads(0).bound(2).build();
    let log = Log::default();
    let release = Arc::new(Barrier::new(17));
    // Each shard has 8 threads, each of which takes one job; the next is queued, and the last waits for room.
    let jobs: Vec<Vec<Operation<Noted>>> = in_both_shards(|| {
        let (begins, begun) = mpsc::channel();
        let held = || {
            let (begins, release) = (begins.clone(), Arc::clone(&release));
            let operation = pool.submit(
                Port::new(),
                log.job(move || {
                    begins.send(()).unwrap();
                    release.wait();
                    1
                }),
            );
            begun.recv().unwrap();
            operation
        };
        let mut jobs: Vec<_> = (0..8).map(|_| held()).collect();
        jobs.extend((0..2).map(|_| pool.submit(Port::new(), log.job(|| 2))));
        jobs
    })
    .into();
    let metrics = pool.metrics();
    assert_eq!((metrics.fast.queued, metrics.waiting), (2, 2), "{metrics:?}");
    release.wait();
    let outcomes: u32 = jobs.into_iter().flatten().map(|operation| wait_for(operation).unwrap()).sum();
    assert_eq!(outcomes, 16 + 4 * 2);
}

/// A job of the slow lane that runs until its sender is dropped.
struct Waits(mpsc::Receiver<()>);

impl Job for Waits {
    type Output = ();

    fn lane(&self) -> Lane {
        Lane::Slow
    }

    fn run(&mut self) {
        let _ = self.0.recv();
    }

    fn settle(&mut self, _: Result<&(), &Fault>) {}
}

#[test]
fn extra_threads_are_limited_in_all_shards_together() {
    let pool = Pool::builder().threads(16).slow_threads(3).keep_alive(Duration::from_millis(1)).build();
    for _ in 0..2 {
        let submitted = in_both_shards(|| {
            let submit = |_| {
                let (release, released) = mpsc::channel();
                (pool.submit(Port::new(), Waits(released)), release)
            };
            (0..6).map(submit).collect::<Vec<_>>()
        });
        let slow = pool.metrics().slow;
        assert_eq!(slow.threads, 2 + 3, "one of each shard, and three more: {slow:?}");
        let (operations, releases): (Vec<_>, Vec<_>) = submitted.into_iter().flatten().unzip();
        drop(releases);
        operations.into_iter().for_each(|operation| wait_for(operation).unwrap());
        // Those that ended count no more.
        while pool.metrics().slow.threads > 2 {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn a_shard_without_a_thread_has_its_jobs_run_by_another_one() {
    let pool_of = |most| {
        let started = AtomicUsize::new(0);
        let spawn = move |name, run: Box<dyn FnOnce() + Send>| match started.fetch_add(1, Ordering::SeqCst) < most {
            true => thread::Builder::new().name(name).spawn(run),
            false => Err(io::ErrorKind::WouldBlock.into()),
        };
        Pool::builder().threads(16).spawn(Box::new(spawn)).build()
    };
    let log = Log::default();
    // The watchdog and the worker of the shard that is first.
    let pool = pool_of(2);
    for operation in in_both_shards(|| pool.submit(Port::new(), log.job(|| 7))) {
        assert_eq!(wait_for(operation).unwrap(), 7);
    }
    assert_eq!(pool.metrics().fast.threads, 1);
    let pool = pool_of(0);
    for operation in in_both_shards(|| pool.submit(Port::new(), log.job(|| 7))) {
        assert!(matches!(wait_for(operation), Err(Fault::NoThread(_))));
    }
}

#[test]
fn a_shutdown_ends_all_shards() {
    let (pool, log) = (Pool::builder().threads(16).build(), Log::default());
    let operations = in_both_shards(|| pool.submit(Port::new(), log.job(|| 7)));
    operations.into_iter().for_each(|operation| _ = wait_for(operation));
    pool.shutdown();
    assert_eq!(pool.metrics().fast.threads, 0);
    for operation in in_both_shards(|| pool.submit(Port::new(), log.job(|| 7))) {
        assert!(matches!(wait_for(operation), Err(Fault::ShutDown)));
    }
}

/// Jobs of two shards that shut the pool down at the same time do not wait for each other.
#[test]
fn a_job_does_not_wait_for_other_shards_in_a_shutdown() {
    let (pool, log, both_run) = (Pool::builder().threads(16).build(), Log::default(), Arc::new(Barrier::new(2)));
    let operations = in_both_shards(|| {
        let (pool_of_job, both_run) = (pool.clone(), Arc::clone(&both_run));
        pool.submit(
            Port::new(),
            log.job(move || {
                both_run.wait();
                pool_of_job.shutdown();
                7
            }),
        )
    });
    operations.into_iter().for_each(|operation| assert_eq!(wait_for(operation).unwrap(), 7));
}
