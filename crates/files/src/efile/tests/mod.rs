//! Every entry has one return, however the operation ends. The pool has no threads: each step is made by hand.

mod adaptive;
mod counts;
mod inline;
mod sync;
mod unwritten;

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use rustix::io::Errno;

use super::observe::Stage::{self, InternalEntry, InternalReturn, Return};
use super::observe::{entered, operations};
use super::{Command, Descriptor, Driver, Inline, Owner, Request};
use crate::aio_pool::{Pool, Port};
use crate::fs::{File, OpenOptions};

pub(crate) const CANCELLED: i32 = Errno::CANCELED.raw_os_error();
pub(crate) const DONE: [Stage; 3] = [InternalEntry, InternalReturn, Return(0)];

pub(crate) fn stepped() -> (Pool, Driver, Port) {
    let pool = Pool::builder().threads(0).build();
    let driver = Driver::new(pool.clone()).inline(Inline::Off);
    let port = driver.port();
    (pool, driver, port)
}

pub(crate) fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Polls a future until it has entered an operation, which is in the queue then. All tests share the table of unwritten bytes: an
/// operation by name may find those of another test there, and then has a job look up its name first.
pub(crate) fn enter<F: Future>(pool: &Pool, mut future: Pin<&mut F>) {
    let before = entered();
    loop {
        assert!(poll(future.as_mut()).is_pending());
        if entered() > before {
            return;
        }
        assert!(pool.run_one(), "the future waits for nothing that the pool has");
    }
}

/// Polls a future to its end, with the pool's work done in between. Polls one that has only given way again: on a slow machine any
/// operation may.
pub(crate) fn finish<F: Future>(pool: &Pool, future: F) -> F::Output {
    let mut future = pin!(future);
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        let has_given_way = woken.0.swap(false, Ordering::Relaxed);
        assert!(has_given_way || pool.run_one(), "the future waits for nothing that the pool has");
    }
}

/// Whether the task has been woken.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Woken>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn open(pool: &Pool, driver: &Driver) -> File {
    let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    finish(pool, OpenOptions::new().read(true).write(true).open_with(driver, &path)).unwrap()
}

fn request() -> Request {
    Request::new(Command::Pwd)
}

#[test]
fn an_operation_fires_its_four_probes_in_their_order() {
    let (pool, driver, port) = stepped();
    assert_eq!(finish(&pool, driver.run(request(), |_| Ok(7))).unwrap(), 7);
    let error = finish(&pool, driver.run(request(), |_| Err::<(), _>(Errno::NOSPC.into()))).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(Errno::NOSPC.raw_os_error()));
    let failed = vec![InternalEntry, InternalReturn, Return(Errno::NOSPC.raw_os_error())];
    assert_eq!(operations(port), [(Command::Pwd, DONE.to_vec()), (Command::Pwd, failed)]);
}

#[test]
fn an_error_without_errno_is_shown_as_eio_and_given_as_it_is() {
    let (pool, driver, port) = stepped();
    let error = finish(&pool, driver.run(request(), |_| Err::<(), _>(io::Error::other("ours")))).unwrap_err();
    assert_eq!(error.to_string(), "ours");
    assert_eq!(operations(port)[0].1[2], Return(Errno::IO.raw_os_error()));
}

#[test]
fn a_future_that_was_never_polled_was_no_operation() {
    let (pool, driver, port) = stepped();
    drop(driver.run(request(), |_| Ok(())));
    assert!(!pool.run_one());
    assert_eq!(operations(port), []);
}

#[test]
fn a_future_dropped_in_the_queue_returns_cancelled_and_never_runs() {
    let (pool, driver, port) = stepped();
    {
        let mut future = pin!(driver.run(request(), |_| -> io::Result<()> { panic!("it was cancelled") }));
        assert!(poll(future.as_mut()).is_pending());
        assert_eq!(operations(port), [(Command::Pwd, vec![])]);
    }
    assert_eq!(operations(port), [(Command::Pwd, vec![Return(CANCELLED)])]);
    while pool.run_one() {}
    assert_eq!(operations(port), [(Command::Pwd, vec![Return(CANCELLED)])]);
}

#[test]
fn a_future_dropped_while_the_job_runs_returns_after_it() {
    let (pool, driver, port) = stepped();
    let (begun, has_begun) = std::sync::mpsc::channel();
    let (go, may_end) = std::sync::mpsc::channel();
    let worker = {
        let mut future = pin!(driver.run(request(), move |_| {
            begun.send(()).unwrap();
            may_end.recv().unwrap();
            Ok(())
        }));
        assert!(poll(future.as_mut()).is_pending());
        let worker = std::thread::spawn(move || pool.run_one());
        has_begun.recv().unwrap();
        worker
    };
    assert_eq!(operations(port), [(Command::Pwd, vec![InternalEntry])]);
    go.send(()).unwrap();
    worker.join().unwrap();
    assert_eq!(operations(port), [(Command::Pwd, DONE.to_vec())]);
}

#[test]
fn a_future_dropped_with_its_answer_ready_returns_then() {
    let (pool, driver, port) = stepped();
    {
        let mut future = pin!(driver.run(request(), |_| Ok(())));
        assert!(poll(future.as_mut()).is_pending());
        assert!(pool.run_one());
        assert_eq!(operations(port), [(Command::Pwd, DONE[..2].to_vec())]);
    }
    assert_eq!(operations(port), [(Command::Pwd, DONE.to_vec())]);
}

#[test]
fn a_job_that_panics_returns_eio() {
    let (pool, driver, port) = stepped();
    let error = finish(&pool, driver.run(request(), |_| -> io::Result<()> { panic!("as it shall") })).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(Errno::IO.raw_os_error()));
    let stages = vec![InternalEntry, InternalReturn, Return(Errno::IO.raw_os_error())];
    assert_eq!(operations(port), [(Command::Pwd, stages)]);
}

#[test]
fn shutdown_returns_what_is_queued_and_what_comes_after() {
    let (pool, driver, port) = stepped();
    let file = open(&pool, &driver);
    let of_file = file.port();
    let mut queued = pin!(driver.run(request(), |_| Ok(())));
    assert!(poll(queued.as_mut()).is_pending());
    pool.shutdown();
    for answer in [finish(&pool, queued), finish(&pool, driver.run(request(), |_| Ok(())))] {
        assert_eq!(answer.unwrap_err().raw_os_error(), Some(CANCELLED));
    }
    assert_eq!(operations(port), [(Command::Pwd, vec![Return(CANCELLED)]), (Command::Pwd, vec![Return(CANCELLED)])]);
    // The descriptor is closed anyway, but its CLOSE reports a cancellation.
    assert_eq!(finish(&pool, file.close()).unwrap_err().raw_os_error(), Some(CANCELLED));
    assert_eq!(operations(of_file), [(Command::Open, DONE.to_vec()), (Command::Close, vec![Return(CANCELLED)])]);
}

#[test]
fn an_answer_that_nobody_takes_is_dropped() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let (pool, driver, _) = stepped();
    let drops = Arc::new(AtomicUsize::new(0));
    let counted = Counted(Arc::clone(&drops));
    {
        let mut future = pin!(driver.run(request(), move |_| Ok(counted)));
        assert!(poll(future.as_mut()).is_pending());
        assert!(pool.run_one());
        assert_eq!(drops.load(Ordering::Relaxed), 0);
    }
    assert_eq!(drops.load(Ordering::Relaxed), 1);
}

#[test]
fn a_file_opened_for_nobody_is_closed() {
    let (pool, driver, _) = stepped();
    let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    {
        let options = OpenOptions::new().read(true).clone();
        let mut future = pin!(options.open_with(&driver, &path));
        enter(&pool, future.as_mut());
        assert!(pool.run_one());
    }
    assert!(pool.run_one(), "the CLOSE waits in the queue");
    assert!(!pool.run_one());
}

#[test]
fn closing_waits_for_operations_that_still_use_the_file() {
    let (pool, driver, port) = stepped();
    let owner = Owner::new(Descriptor::new(driver, port, 0, Inline::Off, tempfile::tempfile().unwrap()));
    let used = Arc::clone(&owner);
    let mut close = pin!(owner.close());
    assert!(poll(close.as_mut()).is_pending());
    assert_eq!(operations(port), []);
    drop(used);
    finish(&pool, close).unwrap();
    assert_eq!(operations(port), [(Command::Close, DONE.to_vec())]);
}

#[test]
fn a_close_whose_future_is_dropped_closes() {
    let (pool, driver, _) = stepped();
    let file = open(&pool, &driver);
    let port = file.port();
    {
        let mut close = pin!(file.close());
        assert!(poll(close.as_mut()).is_pending());
    }
    assert!(pool.run_one());
    assert_eq!(operations(port)[1], (Command::Close, DONE.to_vec()));
}

#[test]
fn a_dropped_file_is_closed_once() {
    let (pool, driver, _) = stepped();
    let file = open(&pool, &driver);
    let port = file.port();
    {
        let mut abandoned = pin!(file.metadata());
        assert!(poll(abandoned.as_mut()).is_pending());
        assert!(pool.run_one());
    }
    drop(file);
    assert!(pool.run_one());
    assert!(!pool.run_one());
    let commands = [Command::Open, Command::Fstat, Command::Close];
    assert_eq!(operations(port), commands.map(|command| (command, DONE.to_vec())));
}

#[test]
fn a_write_outlives_its_file() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (pool, driver, _) = stepped();
    let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    let mut file = finish(&pool, OpenOptions::new().write(true).open_with(&driver, &path)).unwrap();
    let port = file.port();
    finish(&pool, file.write_all(b"accepted")).unwrap();
    drop(file);
    while pool.run_one() {}
    assert_eq!(std::fs::read(&path).unwrap(), b"accepted");
    let commands = [Command::Open, Command::Write, Command::Close];
    assert_eq!(operations(port), commands.map(|command| (command, DONE.to_vec())));

    // A read is not worth that: it is cancelled with its file.
    let mut file = open(&pool, &driver);
    let port = file.port();
    {
        let mut byte = [0];
        let mut read = pin!(file.read(&mut byte));
        assert!(poll(read.as_mut()).is_pending());
    }
    drop(file);
    while pool.run_one() {}
    let stages = operations(port);
    assert_eq!(stages[1], (Command::Read, vec![Return(CANCELLED)]));
    assert_eq!(stages[2], (Command::Close, DONE.to_vec()));
}

#[test]
fn in_a_storm_of_drops_and_a_shutdown_each_entry_has_one_return() {
    let pool = Pool::builder().threads(3).build();
    let driver = Driver::new(pool.clone());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let driver = driver.clone();
            runtime.spawn(async move {
                for step in 0..200 {
                    let operation = driver.run(request(), move |_| match step % 5 {
                        0 => panic!("as it shall"),
                        1 => Err(Errno::NOSPC.into()),
                        _ => {
                            std::thread::yield_now();
                            Ok(())
                        }
                    });
                    // Gives up after a few polls, which differ.
                    let mut operation = pin!(operation);
                    for _ in 0..(step + task) % 7 {
                        if std::future::poll_fn(|cx| Poll::Ready(operation.as_mut().poll(cx))).await.is_ready() {
                            break;
                        }
                        tokio::task::yield_now().await;
                    }
                }
            })
        })
        .collect();
    // In the middle of it, for most of the tasks.
    runtime.block_on(tasks.into_iter().next().unwrap()).unwrap();
    pool.shutdown();
    drop(runtime);
    let operations = operations(driver.port());
    assert!(operations.len() >= 160);
    for (_, stages) in operations {
        assert!(
            matches!(stages[..], [Return(_)] | [InternalEntry, InternalReturn, Return(_)]),
            "after its entry an operation fired {stages:?}"
        );
    }
}
