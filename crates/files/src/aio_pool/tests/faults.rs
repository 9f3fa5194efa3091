//! Faults: panics, shutdown, threads that cannot be started.

use std::io;
use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use super::threads::{blocked, wait_for};
use super::{Log, stepped};
use crate::aio_pool::{Fault, Job, Pool, Port};

#[test]
fn a_panic_fails_its_job_alone() {
    let log = Log::default();
    let pool = Pool::builder().threads(1).build();
    let fails = pool.submit(Port::new(), log.job(|| panic!("on purpose")));
    let succeeds = pool.submit(Port::new(), log.job(|| 7));
    assert!(matches!(wait_for(fails), Err(Fault::Panicked)));
    assert_eq!(wait_for(succeeds).unwrap(), 7);
    assert_eq!(log.lines(), ["Err(Panicked)", "Ok(7)"]);
}

#[test]
fn a_panic_that_is_not_awaited() {
    let (pool, log) = (stepped(), Log::default());
    pool.submit_detached(Port::new(), log.job(|| panic!("on purpose")));
    assert!(pool.run_one());
    assert_eq!(log.lines(), ["Err(Panicked)"]);
}

#[test]
fn a_panic_that_panics_when_it_is_dropped() {
    struct Grenade;
    impl Drop for Grenade {
        fn drop(&mut self) {
            panic_any(Grenade);
        }
    }
    let (pool, log) = (stepped(), Log::default());
    pool.submit_detached(Port::new(), log.job(|| panic_any(Grenade)));
    assert!(pool.run_one());
    assert_eq!(log.lines(), ["Err(Panicked)"]);
}

/// Panics when it is settled.
struct Sore(Arc<AtomicUsize>);

impl Job for Sore {
    type Output = u32;

    fn run(&mut self) -> u32 {
        7
    }

    fn settle(&mut self, _: Result<&u32, &Fault>) {
        self.0.fetch_add(1, Ordering::SeqCst);
        panic!("on purpose");
    }
}

#[test]
fn a_panic_in_settle_goes_no_further() {
    let settled = Arc::new(AtomicUsize::new(0));
    let job = || Sore(Arc::clone(&settled));
    let pool = stepped();

    drop(pool.submit(Port::new(), job()));
    assert_eq!(settled.load(Ordering::SeqCst), 1, "dropped in the queue");
    assert!(pool.run_one());

    pool.submit_detached(Port::new(), job());
    assert!(pool.run_one());
    assert_eq!(settled.load(Ordering::SeqCst), 2, "on the worker");

    let operation = pool.submit(Port::new(), job());
    assert!(pool.run_one());
    assert_eq!(wait_for(operation).unwrap(), 7, "the outcome stays what it was");
    assert_eq!(settled.load(Ordering::SeqCst), 3);

    for _ in 0..2 {
        pool.submit_detached(Port::new(), job());
    }
    pool.shutdown();
    assert_eq!(settled.load(Ordering::SeqCst), 5, "refused, each of them");
}

#[test]
fn shutdown_refuses_what_is_queued_and_what_comes() {
    let pool = Pool::builder().threads(0).bound(1).build();
    let log = Log::default();
    let job = || log.job(|| unreachable!("it was refused"));
    let queued = pool.submit(Port::new(), job());
    let waiting = pool.submit(Port::new(), job());
    pool.submit_detached(Port::new(), job());
    pool.shutdown();
    assert_eq!(log.lines(), ["Err(ShutDown)"], "the one that is not awaited");
    let late = pool.submit(Port::new(), job());
    for operation in [queued, waiting, late] {
        assert!(matches!(wait_for(operation), Err(Fault::ShutDown)));
    }
    pool.submit_detached(Port::new(), job());
    assert_eq!(log.lines(), ["Err(ShutDown)"; 5]);
    assert!(!pool.run_one());
    pool.shutdown();
}

#[test]
fn shutdown_waits_for_what_runs_and_so_does_a_second_one() {
    let pool = Pool::builder().threads(1).slow_threads(0).build();
    let log = Log::default();
    let (running, release) = blocked(&pool, &log);
    let queued = pool.submit(Port::new(), log.job(|| unreachable!("it was refused")));
    let shutdowns: Vec<_> = (0..2)
        .map(|_| {
            let pool = pool.clone();
            thread::spawn(move || pool.shutdown())
        })
        .collect();
    assert!(matches!(wait_for(queued), Err(Fault::ShutDown)));
    assert!(shutdowns.iter().all(|shutdown| !shutdown.is_finished()));
    release.send(7).unwrap();
    for shutdown in shutdowns {
        shutdown.join().unwrap();
    }
    assert_eq!(wait_for(running).unwrap(), 7);
}

#[test]
fn shutdown_in_a_job_does_not_wait_for_itself() {
    let pool = Pool::builder().threads(1).build();
    let log = Log::default();
    let inner = pool.clone();
    let operation = pool.submit(
        Port::new(),
        log.job(move || {
            inner.shutdown();
            7
        }),
    );
    assert_eq!(wait_for(operation).unwrap(), 7);
    pool.shutdown();
}

/// A pool of two threads, each of which can be started only when `allowed` says so. Its watchdog always can.
fn limited(allowed: impl Fn() -> bool + Send + Sync + 'static) -> Pool {
    Pool::builder()
        .threads(2)
        .spawn(Box::new(move |name, run| match name == "dyntrace-watch" || allowed() {
            true => thread::Builder::new().name(name).spawn(run),
            false => Err(io::Error::from_raw_os_error(libc::EAGAIN)),
        }))
        .build()
}

#[test]
fn without_any_thread_the_job_is_refused_and_the_next_tries_again() {
    let ready = Arc::new(AtomicBool::new(false));
    let pool = limited({
        let ready = Arc::clone(&ready);
        move || ready.load(Ordering::SeqCst)
    });
    let log = Log::default();
    pool.submit_detached(Port::new(), log.job(|| unreachable!("there is no thread")));
    assert_eq!(log.lines().len(), 1);
    match wait_for(pool.submit(Port::new(), log.job(|| unreachable!("there is no thread")))) {
        Err(Fault::NoThread(error)) => assert_eq!(error.raw_os_error(), Some(libc::EAGAIN)),
        other => panic!("{other:?}"),
    }
    ready.store(true, Ordering::SeqCst);
    assert_eq!(wait_for(pool.submit(Port::new(), log.job(|| 7))).unwrap(), 7);
}

#[test]
fn while_a_thread_lives_jobs_wait_for_it() {
    let started = AtomicUsize::new(0);
    let pool = limited(move || started.fetch_add(1, Ordering::SeqCst) == 0);
    let log = Log::default();
    let (running, release) = blocked(&pool, &log);
    let waits = pool.submit(Port::new(), log.job(|| 8));
    release.send(7).unwrap();
    assert_eq!(wait_for(running).unwrap(), 7);
    assert_eq!(wait_for(waits).unwrap(), 8);
}

// miri accepts a stack of any size.
#[cfg(not(miri))]
#[test]
fn a_thread_that_the_system_really_refuses() {
    // No address space has room for such a stack.
    let pool = Pool::builder()
        .threads(1)
        .spawn(Box::new(|name, run| thread::Builder::new().name(name).stack_size(usize::MAX << 30).spawn(run)))
        .build();
    let operation = pool.submit(Port::new(), Log::default().job(|| unreachable!("there is no thread")));
    let fault = wait_for(operation).unwrap_err();
    let Fault::NoThread(cause) = fault else { panic!("{fault}") };
    assert!(cause.raw_os_error().is_some(), "{cause:?}");
}

#[test]
fn the_last_handle_goes_while_jobs_are_queued() {
    let pool = Pool::builder().threads(1).slow_threads(0).bound(1).build();
    let log = Log::default();
    let (running, release) = blocked(&pool, &log);
    let queued = pool.submit(Port::new(), log.job(|| 8));
    let waiting = pool.submit(Port::new(), log.job(|| 9));
    drop(pool);
    release.send(7).unwrap();
    assert_eq!(wait_for(running).unwrap(), 7);
    assert_eq!(wait_for(queued).unwrap(), 8);
    assert_eq!(wait_for(waiting).unwrap(), 9);
}

#[test]
fn the_last_handle_of_a_pool_without_threads() {
    let pool = stepped();
    let operation = pool.submit(Port::new(), Log::default().job(|| unreachable!("there is no thread to run it")));
    drop(pool);
    assert!(matches!(wait_for(operation), Err(Fault::ShutDown)));
}

#[test]
fn threads_end_when_the_last_handle_is_gone() {
    struct End(mpsc::Sender<()>);
    impl Drop for End {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
        }
    }
    thread_local! {
        static END: std::cell::RefCell<Option<End>> = const { std::cell::RefCell::new(None) };
    }
    let (sender, ended) = mpsc::channel();
    let pool = Pool::builder().threads(1).build();
    let operation = pool.submit(
        Port::new(),
        Log::default().job(move || {
            END.set(Some(End(sender.clone())));
            7
        }),
    );
    assert_eq!(wait_for(operation).unwrap(), 7);
    drop(pool);
    ended.recv().unwrap();
}
