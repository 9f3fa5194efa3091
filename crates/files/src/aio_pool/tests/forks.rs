//! Pools that a forked child finds: those with threads refuse jobs there and never block, the others go on working.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::threads::{blocked, wait_for};
use super::{Log, stepped};
use crate::aio_pool::{Fault, Pool, Port};

/// Runs `test` in a forked child for at most ten seconds. Panics if it fails there.
fn in_child(test: impl FnOnce()) {
    // SAFETY: the child goes on with a copy of this thread. Of the locks that other threads may hold it takes the allocator's, which the C
    // library keeps usable, and those that a fork holds. It ends by `_exit`.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "{}", std::io::Error::last_os_error());
    if child == 0 {
        // SAFETY: a plain system call.
        unsafe { libc::alarm(10) };
        let has_failed = catch_unwind(AssertUnwindSafe(test)).is_err();
        // SAFETY: ends the child at once, without destructors or exit handlers.
        unsafe { libc::_exit(has_failed.into()) };
    }
    let mut status = 0;
    // SAFETY: the child made above, and a place for its status.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "14: it hung");
}

#[test]
fn a_pool_with_threads_refuses_jobs_in_a_child() {
    for threads in [1, 16] {
        let (pool, log) = (Pool::builder().threads(threads).build(), Log::default());
        let (held, release) = blocked(&pool, &log);
        in_child(|| {
            assert!(matches!(wait_for(pool.submit(Port::new(), log.job(|| 7))), Err(Fault::ShutDown)));
            pool.submit_detached(Port::new(), log.job(|| 8));
            assert_eq!(log.lines(), ["Err(ShutDown)"; 2]);
            assert!(!pool.run_one());
            assert_eq!(pool.metrics().fast.threads, 0);
            pool.shutdown();
            drop(pool.clone());
        });
        release.send(9).unwrap();
        assert_eq!(wait_for(held).unwrap(), 9);
        assert_eq!(log.lines(), ["Ok(9)"]);
    }
}

#[test]
fn the_last_handle_of_a_pool_is_dropped_in_a_child() {
    let (pool, log) = (Pool::builder().threads(1).build(), Log::default());
    let (held, release) = blocked(&pool, &log);
    let mut pool = Some(pool);
    in_child(|| pool = None);
    release.send(9).unwrap();
    assert_eq!(wait_for(held).unwrap(), 9);
}

#[test]
fn a_pool_that_has_started_no_thread_works_in_a_child() {
    let (pool, log) = (Pool::builder().threads(16).build(), Log::default());
    in_child(|| {
        assert_eq!(wait_for(pool.submit(Port::new(), log.job(|| 7))).unwrap(), 7);
        pool.shutdown();
        assert!(matches!(wait_for(pool.submit(Port::new(), log.job(|| 7))), Err(Fault::ShutDown)));
    });
    assert_eq!(wait_for(pool.submit(Port::new(), log.job(|| 8))).unwrap(), 8);
    let pool = stepped();
    pool.submit_detached(Port::new(), log.job(|| 1));
    in_child(|| {
        assert!(pool.run_one() && !pool.run_one());
        assert_eq!(log.lines().last().unwrap(), "Ok(1)");
    });
    assert!(pool.run_one());
}
