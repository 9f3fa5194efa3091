//! Pools that a forked child finds: those with threads refuse jobs there and never block, the others go on working.

use super::threads::{blocked, wait_for};
use super::{Log, stepped};
use crate::aio_pool::{Fault, Pool, Port};
use crate::forked::in_child;

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
