//! Jobs that wait do not hold up others: neither in the slow lane nor in the fast one, where the watchdog finds them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::time::{Duration, Instant};

use super::threads::{blocked, wait_for};
use super::{Log, Noted};
use crate::aio_pool::{Changes, Fault, Job, Lane, Operation, Pool, Port, metrics};

/// Jobs of the slow lane that end when the barrier's number of them run at once.
struct Meets(Arc<Barrier>);

impl Job for Meets {
    type Output = Option<String>;

    fn lane(&self) -> Lane {
        Lane::Slow
    }

    fn run(&mut self) -> Self::Output {
        self.0.wait();
        std::thread::current().name().map(str::to_owned)
    }

    fn settle(&mut self, _: Result<&Self::Output, &Fault>) {}
}

fn meet(pool: &Pool, number: usize) -> Vec<String> {
    let barrier = Arc::new(Barrier::new(number));
    let submit = |_| pool.submit(Port::new(), Meets(Arc::clone(&barrier)));
    let operations: Vec<Operation<Meets>> = (0..number).map(submit).collect();
    let mut names: Vec<_> = operations.into_iter().map(|operation| wait_for(operation).unwrap().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_slow_lane_has_a_thread_for_each_job() {
    let pool = Pool::builder().threads(1).build();
    assert!(meet(&pool, 3).iter().all(|name| name.starts_with("dyntrace-slow-")));
    let metrics = pool.metrics();
    // On a slow machine the watchdog may start some in place of those that wait for the last one.
    assert!(metrics.slow.threads >= 3, "{metrics:?}");
    assert_eq!((metrics.slow.operations, metrics.fast.threads), (3, 0));
}

#[test]
fn a_pool_without_threads_gets_none_for_it_either() {
    let pool = super::stepped();
    let operation = pool.submit(Port::new(), Meets(Arc::new(Barrier::new(1))));
    assert_eq!(pool.metrics().slow.queued, 1);
    assert!(pool.run_one());
    assert_eq!(wait_for(operation).unwrap().as_deref(), std::thread::current().name());
    assert_eq!(pool.metrics().slow.threads, 0);
}

#[test]
fn its_threads_go_when_nothing_comes_and_come_back() {
    let pool = Pool::builder().threads(1).keep_alive(Duration::from_millis(1)).build();
    for _ in 0..2 {
        assert_eq!(meet(&pool, 4).len(), 4);
        wait_until(|| pool.metrics().slow.threads == 1);
    }
}

#[test]
fn jobs_that_block_in_the_fast_lane_are_relieved() {
    let pool = Pool::builder().threads(1).slow_threads(2).build();
    let log = Log::default();
    let (first, release_first) = blocked(&pool, &log);
    // Queued behind the first; only the watchdog can have it run.
    let (second, release_second) = blocked(&pool, &log);
    assert_eq!(wait_for(pool.submit(Port::new(), log.job(|| 9))).unwrap(), 9);
    assert_eq!(pool.metrics().fast.blocked, 2);
    release_first.send(7).unwrap();
    release_second.send(8).unwrap();
    assert_eq!((wait_for(first).unwrap(), wait_for(second).unwrap()), (7, 8));
    wait_until(|| pool.metrics().fast.idle == 3);
    assert_eq!(pool.metrics().fast.blocked, 0);
}

/// A job that changes a directory.
struct Changing(Noted, Changes);

impl Job for Changing {
    type Output = u32;

    fn changes(&self) -> Changes {
        self.1
    }

    fn run(&mut self) -> u32 {
        self.0.run()
    }

    fn settle(&mut self, outcome: Result<&u32, &Fault>) {
        self.0.settle(outcome);
    }
}

#[test]
fn a_directory_that_blocks_holds_up_no_other() {
    let pool = Pool::builder().threads(2).slow_threads(8).build();
    let log = Log::default();
    let (here, there) = (Changes::of(b"/here"), Changes::of(b"/there"));
    let (begins, begun) = mpsc::channel();
    let (releases, blocked): (Vec<_>, Vec<_>) = [(); 3]
        .map(|()| {
            let (release, released) = mpsc::channel();
            let begins = begins.clone();
            let job = log.job(move || {
                begins.send(()).unwrap();
                released.recv().unwrap()
            });
            (release, pool.submit(Port::new(), Changing(job, here)))
        })
        .into_iter()
        .unzip();
    begun.recv().unwrap();
    for number in 0..100 {
        let job = log.job(move || number);
        assert_eq!(wait_for(pool.submit(Port::new(), Changing(job, there))).unwrap(), number);
    }
    // The watchdog has other threads run those behind the first.
    (0..2).for_each(|_| begun.recv().unwrap());
    releases.iter().for_each(|release| release.send(7).unwrap());
    blocked.into_iter().for_each(|operation| assert_eq!(wait_for(operation).unwrap(), 7));
}

#[test]
fn changes_of_a_directory_end_in_each_way() {
    let pool = Pool::builder().threads(2).bound(4).build();
    let log = Log::default();
    let changes = [Changes::NONE, Changes::of(b"/here"), Changes::of_both(b"/here", b"/there")];
    for round in 0..300_u32 {
        let job = || {
            Changing(
                log.job(move || if round % 5 == 0 { panic!("on purpose") } else { round }),
                changes[round as usize % 3],
            )
        };
        let operations = [(); 4].map(|()| pool.submit(Port::new(), job()));
        pool.submit_detached(Port::new(), job());
        for (number, operation) in operations.into_iter().enumerate() {
            match number % 2 {
                0 => drop(operation),
                _ => assert_eq!(wait_for(operation).is_ok(), round % 5 != 0),
            }
        }
    }
    drop(pool.submit(Port::new(), Changing(log.job(|| 7), changes[1])));
    pool.shutdown();
    assert_eq!(log.lines().len(), 300 * 5 + 1);
}

#[test]
fn the_batch_of_a_worker_with_a_long_job_is_run_by_others() {
    let pool = Pool::builder().threads(2).slow_threads(0).build();
    let log = Log::default();
    // After many short jobs, workers take several at once.
    for number in 0..1000 {
        wait_for(pool.submit(Port::new(), log.job(move || number))).unwrap();
    }
    for _ in 0..50 {
        let left = Arc::new(AtomicU32::new(8));
        let spins = {
            let (left, begun) = (Arc::clone(&left), Instant::now());
            move || {
                while left.load(Ordering::Relaxed) > 0 {
                    assert!(begun.elapsed() < Duration::from_secs(60), "nothing runs the others");
                    std::hint::spin_loop();
                }
                0
            }
        };
        let long = pool.submit(Port::new(), log.job(spins));
        let short = |_| {
            let left = Arc::clone(&left);
            pool.submit(Port::new(), log.job(move || left.fetch_sub(1, Ordering::Relaxed)))
        };
        let short: Vec<_> = (0..8).map(short).collect();
        wait_for(long).unwrap();
        short.into_iter().for_each(|operation| assert!(wait_for(operation).is_ok()));
    }
}

#[test]
fn without_further_threads_they_are_waited_for() {
    let pool = Pool::builder().threads(1).slow_threads(0).build();
    let log = Log::default();
    let (held, release) = blocked(&pool, &log);
    let queued = pool.submit(Port::new(), log.job(|| 8));
    wait_until(|| pool.metrics().fast.blocked == 1);
    assert_eq!((pool.metrics().fast.threads, pool.metrics().fast.queued), (1, 1));
    release.send(7).unwrap();
    assert_eq!((wait_for(held).unwrap(), wait_for(queued).unwrap()), (7, 8));
}

#[test]
fn jobs_and_their_times_are_counted() {
    let pool = Pool::builder().threads(1).build();
    let before = metrics().fast.operations;
    for number in 0..10 {
        assert_eq!(wait_for(pool.submit(Port::new(), Log::default().job(move || number))).unwrap(), number);
    }
    wait_until(|| pool.metrics().fast.service.count() == 10);
    let now = pool.metrics();
    assert_eq!((now.fast.operations, now.fast.wait.count(), now.waiting), (10, 10, 0));
    assert!(now.fast.wait.quantile(1.0) >= now.fast.wait.quantile(0.1));
    assert!(metrics().fast.operations >= before + 10, "all pools of the process");
    let [sums] = &now.commands[..] else { panic!("{now:?}") };
    assert_eq!((sums.driver, sums.command, sums.operations, sums.errors, sums.bytes), ("noted", "RUN", 10, 0, 10));
    assert_eq!(sums.service, now.fast.service.sum());
    let all = metrics().commands.into_iter().find(|sums| sums.driver == "noted").unwrap();
    assert!(all.operations >= 10);
}

fn wait_until(condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never comes to that");
        std::thread::sleep(Duration::from_millis(1));
    }
}
