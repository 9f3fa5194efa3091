//! Syncs of files, and which of them share a call. The pool has no threads, so one job of it is one call.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::{Context, Wake};

use rustix::io::Errno;

use super::{CANCELLED, DONE, finish, open, poll, stepped};
use crate::aio_pool::Pool;
use crate::efile::observe::Stage::{InternalEntry, InternalReturn, Return};
use crate::efile::observe::operations;
use crate::efile::{Command, Descriptor, Driver, Inline};

type Boxed = std::pin::Pin<Box<dyn Future<Output = std::io::Result<()>>>>;

fn descriptor(driver: &Driver, file: impl Into<File>) -> Arc<Descriptor> {
    Arc::new(Descriptor::new(driver.clone(), driver.port(), 0, Inline::Off, file.into()))
}

/// A request that has begun.
fn begin(descriptor: &Arc<Descriptor>, command: Command) -> Boxed {
    let descriptor = Arc::clone(descriptor);
    let mut request: Boxed = Box::pin(async move { descriptor.sync(command).await });
    assert!(poll(request.as_mut()).is_pending());
    request
}

fn jobs(pool: &Pool) -> usize {
    std::iter::from_fn(|| pool.run_one().then_some(())).count()
}

#[test]
fn requests_that_wait_together_share_one_call() {
    let (pool, driver, _) = stepped();
    let file = open(&pool, &driver);
    {
        let mut syncs: Vec<_> = (0..256).map(|_| Box::pin(file.sync_data())).collect();
        assert!(syncs.iter_mut().all(|sync| poll(sync.as_mut()).is_pending()));
        assert_eq!(jobs(&pool), 1);
        for sync in syncs {
            finish(&pool, sync).unwrap();
        }
    }
    let of_file = operations(file.port());
    assert_eq!(of_file.len(), 1 + 256);
    assert!(of_file[1..].iter().all(|operation| *operation == (Command::Fdatasync, DONE.to_vec())));
}

#[test]
fn a_sync_after_the_begin_of_the_call_gets_its_own_call() {
    let (pool, driver, _) = stepped();
    let file = descriptor(&driver, tempfile::tempfile().unwrap());
    let first = begin(&file, Command::Fdatasync);
    assert!(pool.run_one());
    // The first has completed, but its task has not taken the result.
    let second = begin(&file, Command::Fdatasync);
    assert!(pool.run_one());
    finish(&pool, first).unwrap();
    finish(&pool, second).unwrap();
    assert!(!pool.run_one());
}

#[test]
fn a_waker_that_panics_takes_no_answer_from_others() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker's panic");
        }
    }
    let (pool, driver, _) = stepped();
    let file = descriptor(&driver, tempfile::tempfile().unwrap());
    let mut first = begin(&file, Command::Fdatasync);
    let second = begin(&file, Command::Fdatasync);
    assert!(first.as_mut().poll(&mut Context::from_waker(&Arc::new(Panics).into())).is_pending());
    assert_eq!(jobs(&pool), 1);
    finish(&pool, second).unwrap();
    finish(&pool, first).unwrap();
}

#[test]
fn files_do_not_share() {
    let (pool, driver, _) = stepped();
    let (one, other) =
        (descriptor(&driver, tempfile::tempfile().unwrap()), descriptor(&driver, tempfile::tempfile().unwrap()));
    let _syncs = [begin(&one, Command::Fsync), begin(&other, Command::Fsync)];
    assert_eq!(jobs(&pool), 2);
}

#[test]
fn an_error_reaches_all() {
    let (pool, driver, port) = stepped();
    // A pipe cannot be synced.
    let (reader, _writer) = std::io::pipe().unwrap();
    let file = descriptor(&driver, OwnedFd::from(reader));
    let syncs = [Command::Fdatasync, Command::Fsync, Command::Fdatasync].map(|command| begin(&file, command));
    for sync in syncs {
        assert_eq!(finish(&pool, sync).unwrap_err().raw_os_error(), Some(Errno::INVAL.raw_os_error()));
    }
    let failed = vec![InternalEntry, InternalReturn, Return(Errno::INVAL.raw_os_error())];
    for (_, stages) in operations(port) {
        assert_eq!(stages, failed);
    }
}

#[test]
fn a_dropped_sync_does_not_cancel_the_others() {
    let (pool, driver, port) = stepped();
    let file = descriptor(&driver, tempfile::tempfile().unwrap());
    let leader = begin(&file, Command::Fsync);
    let follower = begin(&file, Command::Fdatasync);
    let third = begin(&file, Command::Fdatasync);
    drop(leader);
    drop(third);
    assert_eq!(operations(port)[0].1, [Return(CANCELLED)]);
    assert_eq!(operations(port)[2].1, [Return(CANCELLED)]);
    finish(&pool, follower).unwrap();
    assert_eq!(operations(port)[1].1, DONE);
    assert!(!pool.run_one());
}

#[test]
fn a_group_that_all_have_left_takes_new_members() {
    let (pool, driver, port) = stepped();
    let file = descriptor(&driver, tempfile::tempfile().unwrap());
    drop(begin(&file, Command::Fsync));
    let second = begin(&file, Command::Fsync);
    assert_eq!(jobs(&pool), 1);
    finish(&pool, second).unwrap();
    drop(begin(&file, Command::Fsync));
    assert_eq!(jobs(&pool), 1);
    let stages: Vec<_> = operations(port).into_iter().map(|(_, stages)| stages).collect();
    assert_eq!(stages, [vec![Return(CANCELLED)], DONE.to_vec(), vec![Return(CANCELLED)]]);
}

#[test]
fn an_answer_that_nobody_takes_returns_where_it_is_dropped() {
    let (pool, driver, port) = stepped();
    let file = descriptor(&driver, tempfile::tempfile().unwrap());
    let sync = begin(&file, Command::Fsync);
    assert!(pool.run_one());
    assert_eq!(operations(port)[0].1, DONE[..2]);
    drop(sync);
    assert_eq!(operations(port)[0].1, DONE);
}

#[test]
fn a_request_dropped_while_the_call_runs_returns_after_it() {
    let (pool, driver, port) = stepped();
    let file = descriptor(&driver, tempfile::tempfile().unwrap());
    let sync = begin(&file, Command::Fsync);
    let worker = std::thread::spawn(move || pool.run_one());
    // Before, during or after the call.
    drop(sync);
    worker.join().unwrap();
    let stages = &operations(port)[0].1;
    assert!(matches!(stages[..], [Return(CANCELLED)] | [InternalEntry, InternalReturn, Return(0)]), "{stages:?}");
}

#[test]
fn shutdown_answers_the_whole_group_and_what_comes_after() {
    let (pool, driver, port) = stepped();
    let file = descriptor(&driver, tempfile::tempfile().unwrap());
    let syncs = [Command::Fsync, Command::Fdatasync].map(|command| begin(&file, command));
    pool.shutdown();
    for sync in syncs {
        assert_eq!(finish(&pool, sync).unwrap_err().raw_os_error(), Some(CANCELLED));
    }
    assert_eq!(finish(&pool, file.sync(Command::Fsync)).unwrap_err().raw_os_error(), Some(CANCELLED));
    assert!(operations(port).iter().all(|(_, stages)| *stages == [Return(CANCELLED)]));
}

#[test]
fn the_file_is_closed_after_its_last_call() {
    let (pool, driver, port) = stepped();
    let file = descriptor(&driver, tempfile::tempfile().unwrap());
    let sync = begin(&file, Command::Fsync);
    drop((sync, file));
    assert_eq!(jobs(&pool), 2);
    assert_eq!(operations(port)[1], (Command::Close, DONE.to_vec()));
}

/// Threads, drops and a shutdown in the middle: each request is entered and returned once.
#[test]
fn in_a_storm_each_request_returns_once() {
    let pool = Pool::builder().threads(3).build();
    let driver = Driver::new(pool.clone());
    let file = descriptor(&driver, tempfile::tempfile().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let tasks: Vec<_> = (0..16)
        .map(|task| {
            let file = Arc::clone(&file);
            runtime.spawn(async move {
                for step in 0..50 {
                    let command = if step % 3 == 0 { Command::Fsync } else { Command::Fdatasync };
                    let mut sync = std::pin::pin!(file.sync(command));
                    if (step + task) % 2 == 0 {
                        let _ = sync.await;
                    } else {
                        let _ = std::future::poll_fn(|cx| std::task::Poll::Ready(sync.as_mut().poll(cx))).await;
                    }
                }
            })
        })
        .collect();
    runtime.block_on(tasks.into_iter().next().unwrap()).unwrap();
    pool.shutdown();
    drop(runtime);
    for (_, stages) in operations(driver.port()) {
        assert!(matches!(stages[..], [Return(_)] | [InternalEntry, InternalReturn, Return(_)]), "{stages:?}");
    }
}
