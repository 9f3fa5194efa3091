//! Workers that are bound to the processor of a serial caller, and released for all others.

use std::time::{Duration, Instant};

use rustix::process::setpriority_process;
use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_setaffinity};

use crate::aio_pool::{Fault, Job, Lane, Operation, Pool, Port};

/// Returns the processors of the thread that runs it.
struct Processors {
    lane: Lane,
    may_be_bound: bool,
    /// Runs first.
    first: Option<Box<dyn FnOnce() + Send>>,
}

impl Job for Processors {
    type Output = Vec<usize>;

    fn lane(&self) -> Lane {
        self.lane
    }

    fn may_be_bound(&self) -> bool {
        self.may_be_bound
    }

    fn run(&mut self) -> Vec<usize> {
        self.first.take().into_iter().for_each(|first| first());
        own_processors()
    }

    fn settle(&mut self, _: Result<&Vec<usize>, &Fault>) {}
}

fn own_processors() -> Vec<usize> {
    let processors = sched_getaffinity(None).unwrap();
    (0..CpuSet::MAX_CPU).filter(|&processor| processors.is_set(processor)).collect()
}

fn run_here(processors: &[usize]) {
    let mut set = CpuSet::new();
    processors.iter().for_each(|&processor| set.set(processor));
    sched_setaffinity(None, &set).unwrap();
}

fn job(may_be_bound: bool) -> Processors {
    Processors { lane: Lane::Fast, may_be_bound, first: None }
}

/// Waits until no worker has a job. The next job goes to the first worker, if no other one is bound. A single worker gets it anyway, and
/// later, as the waiting caller keeps the processor from it.
fn idle(pool: &Pool) -> &Pool {
    while pool.metrics().fast.threads > 1 && pool.metrics().fast.idle < pool.metrics().fast.threads {
        std::thread::yield_now();
    }
    pool
}

/// Runs jobs of a serial caller until one runs on a thread that has these processors.
async fn until_bound_to(pool: &Pool, wanted: &[usize]) {
    let begun = Instant::now();
    // While the machine is busy, jobs start late, and the caller is not serial for a while.
    while idle(pool).submit(Port::new(), job(true)).await.unwrap() != wanted {
        assert!(begun.elapsed() < Duration::from_secs(60), "it is never bound");
    }
}

/// Runs a test in a runtime, on a thread that runs on the first of its processors only, with all of them.
fn on_first_processor(test: impl AsyncFnOnce(Pool, Vec<usize>)) {
    with_threads(1, test);
}

fn with_threads(threads: usize, test: impl AsyncFnOnce(Pool, Vec<usize>)) {
    let all = own_processors();
    if all.len() < 2 {
        return println!("skipped: there is one processor");
    }
    let pool = Pool::builder().threads(threads).build();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        // Starts the threads of the pool.
        pool.submit(Port::new(), job(false)).await.unwrap();
        run_here(&all[..1]);
        until_bound_to(&pool, &all[..1]).await;
        test(pool, all).await;
    });
}

#[test]
fn a_bound_worker_is_released_for_jobs_of_others() {
    on_first_processor(async |pool, all| {
        assert_eq!(pool.submit(Port::new(), job(false)).await.unwrap(), all);
        let other = {
            let pool = pool.clone();
            std::thread::spawn(move || super::threads::wait_for(pool.submit(Port::new(), job(false))).unwrap())
        };
        assert_eq!(other.join().unwrap(), all);
        until_bound_to(&pool, &all[..1]).await;
    });
}

#[test]
fn a_thread_that_a_bound_worker_starts_is_not_bound() {
    on_first_processor(async |pool, all| {
        let (sends, sent) = std::sync::mpsc::channel();
        let starts = {
            let pool = pool.clone();
            move || {
                // The first job of the slow lane, which has no thread yet.
                let slow = Processors { lane: Lane::Slow, ..job(false) };
                sends.send((own_processors(), pool.submit(Port::new(), slow))).unwrap();
            }
        };
        pool.submit(Port::new(), Processors { first: Some(Box::new(starts)), ..job(true) }).await.unwrap();
        let (bound, slow) = sent.recv().unwrap();
        assert_eq!(slow.await.unwrap(), all, "{bound:?}");
    });
}

#[test]
fn a_worker_that_the_system_has_moved_is_bound_again() {
    on_first_processor(async |pool, all| {
        let other = all[1..2].to_vec();
        let moves = move || run_here(&other);
        pool.submit(Port::new(), Processors { first: Some(Box::new(moves)), ..job(true) }).await.unwrap();
        until_bound_to(&pool, &all[..1]).await;
    });
}

#[test]
fn a_worker_follows_its_caller_to_another_processor() {
    on_first_processor(async |pool, all| {
        run_here(&all[1..2]);
        until_bound_to(&pool, &all[1..2]).await;
    });
}

/// Returns the operation of a job that calls `first`, and the thread that runs it. Computes until it has run.
fn compute_beside(pool: &Pool, first: impl FnOnce() + Send + 'static) -> (Operation<Processors>, Pid) {
    let (sends, sent) = std::sync::mpsc::channel();
    let first = move || {
        first();
        sends.send(gettid()).unwrap();
    };
    let operation = pool.submit(Port::new(), Processors { first: Some(Box::new(first)), ..job(true) });
    let begun = Instant::now();
    loop {
        if let Ok(thread) = sent.try_recv() {
            return (operation, thread);
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing runs the job");
        std::hint::spin_loop();
    }
}

/// The bound worker has the lowest priority, so the caller keeps the processor from it.
#[test]
fn another_worker_takes_the_job_of_a_caller_that_computes_on() {
    with_threads(2, async |pool, all| {
        let (operation, bound) = compute_beside(idle(&pool), || setpriority_process(None, 19).unwrap());
        operation.await.unwrap();
        let begun = Instant::now();
        loop {
            until_bound_to(&pool, &all[..1]).await;
            let (operation, thread) = compute_beside(idle(&pool), || ());
            operation.await.unwrap();
            if thread != bound {
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "no other worker takes it");
        }
    });
}

/// A caller that computes on after it has submitted.
#[test]
fn a_caller_that_keeps_its_processor_gets_its_outcomes() {
    on_first_processor(async |pool, _| {
        for _ in 0..100 {
            compute_beside(&pool, || ()).0.await.unwrap();
        }
    });
}
