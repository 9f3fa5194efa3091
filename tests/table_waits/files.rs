//! Waits for file operations, of a pool whose jobs run when the test says so.

use std::ffi::CString;
use std::fs::OpenOptions;
use std::future::pending;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::thread;

use dyntrace::aio_pool::Pool;
use dyntrace::efile::Driver;
use dyntrace::fs;
use dyntrace::process::{OperationId, Pid, child, current, next_operation};
use dyntrace::recorder::{Mode, Options, Session};
use dyntrace::task::JoinHandle;
use dyntrace_task_table::Thing;
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::oneshot;

use super::forked::in_child;
use super::{table, turns, wait};

/// The pool of the program's file operations.
fn pool() -> Pool {
    let pool = Pool::builder().threads(0).build();
    Driver::install(Driver::new(pool.clone()).inline(false)).unwrap();
    pool
}

/// The wait for the operation after `last`.
fn of_next(last: OperationId, command: &str) -> Option<(String, String, Thing)> {
    let operation = Thing::Operation { thread: last.thread, tag: last.tag + 1 };
    Some((command.to_owned(), String::new(), operation))
}

/// A task that gives `operation` up when it is told to, and then waits for ever.
fn gives_up<T: Send + 'static>(
    operation: impl Future<Output = T> + Send + 'static,
) -> (oneshot::Sender<()>, JoinHandle<()>) {
    let (tell, told) = oneshot::channel();
    let task = dyntrace::spawn(async {
        tokio::select! {
            biased;
            told = told => told.unwrap(),
            _ = operation => unreachable!("it is given up before"),
        }
        pending().await
    });
    (tell, task)
}

pub async fn answered() {
    let (pool, folder) = (pool(), tempfile::tempdir().unwrap());
    let path = folder.path().join("log");
    let log = std::fs::File::create(&path).unwrap();
    let (said, mut hears) = unbounded_channel();
    let last = next_operation();
    let task = dyntrace::spawn(async move {
        let log = fs::File::from_std(log);
        log.sync_data().await.unwrap();
        said.send("synced").unwrap();
        let length = fs::metadata(&path).await.unwrap().len();
        said.send(if length == 0 { "empty" } else { "not empty" }).unwrap();
        pending::<()>().await;
        drop(log);
    });
    turns().await;
    assert_eq!(wait(task.pid()), of_next(last, "FDATASYNC"));
    assert!(pool.run_one());
    assert_eq!(hears.recv().await, Some("synced"));
    turns().await;
    let last = OperationId { tag: last.tag + 1, ..last };
    assert_eq!(wait(task.pid()), of_next(last, "FSTAT"));
    assert!(pool.run_one());
    assert_eq!(hears.recv().await, Some("empty"));
    turns().await;
    assert_eq!(wait(task.pid()), None);
}

pub async fn full_recording() {
    let (pool, folder) = (pool(), tempfile::tempdir().unwrap());
    let mut options = Options::new(folder.path().join("trace"));
    (options.mode, options.size) = (Mode::Discard, Some(Options::SMALLEST));
    let session = Session::start(options).unwrap();
    while session.status().unwrap().discarded == 0 {
        for _ in 0..1000 {
            dyntrace::p!("once more");
        }
    }
    let last = next_operation();
    let path = folder.path().to_owned();
    let (said, mut hears) = unbounded_channel();
    let task = dyntrace::spawn(async move {
        fs::metadata(path).await.unwrap();
        said.send(()).unwrap();
        pending::<()>().await
    });
    turns().await;
    assert_eq!(wait(task.pid()), of_next(last, "FSTAT"));
    assert!(pool.run_one());
    hears.recv().await.unwrap();
    turns().await;
    assert_eq!(wait(task.pid()), None);
    session.stop().unwrap();
}

pub async fn given_up() {
    let (pool, folder) = (pool(), tempfile::tempdir().unwrap());
    let last = next_operation();
    let path = folder.path().to_owned();
    let (tell, task) = gives_up(fs::metadata(path));
    turns().await;
    assert_eq!(wait(task.pid()), of_next(last, "FSTAT"));
    tell.send(()).unwrap();
    turns().await;
    assert_eq!(wait(task.pid()), None);
    assert!(pool.run_one(), "its job is still in the queue");

    // An operation that an I/O thread runs: the open of a pipe that has no writer.
    let pipe = folder.path().join("pipe");
    make_pipe(&pipe);
    let last = next_operation();
    let (tell, task) = gives_up(fs::File::open(pipe.clone()));
    turns().await;
    assert_eq!(wait(task.pid()), of_next(last, "OPEN"));
    let runs = thread::spawn({
        let pool = pool.clone();
        move || assert!(pool.run_one())
    });
    let queued = || pool.metrics().fast.queued + pool.metrics().slow.queued;
    while queued() > 0 {
        thread::yield_now();
    }
    tell.send(()).unwrap();
    turns().await;
    assert_eq!(wait(task.pid()), None);
    drop(OpenOptions::new().write(true).open(&pipe).unwrap());
    runs.join().unwrap();
    assert_eq!(wait(task.pid()), None);
}

fn make_pipe(path: &Path) {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: the string ends with a NUL.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

pub async fn sync_given_up() {
    let (pool, folder) = (pool(), tempfile::tempdir().unwrap());
    for runs in [false, true] {
        let log = fs::File::from_std(std::fs::File::create(folder.path().join("log")).unwrap());
        let last = next_operation();
        let (tell, task) = gives_up(async move { log.sync_all().await });
        turns().await;
        assert_eq!(wait(task.pid()), of_next(last, "FSYNC"));
        if runs {
            // The answer is on its way.
            assert!(pool.run_one());
        }
        tell.send(()).unwrap();
        turns().await;
        assert_eq!(wait(task.pid()), None);
        while pool.run_one() {}
    }
}

pub async fn ended() {
    let (_pool, folder) = (pool(), tempfile::tempdir().unwrap());
    let path = folder.path().to_owned();
    let task = dyntrace::spawn(fs::metadata(path));
    let pid = task.pid();
    turns().await;
    assert!(wait(pid).is_some());
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert!(table().tasks.is_empty());
    // It has the slot of the one before.
    let next = dyntrace::spawn(pending::<()>());
    turns().await;
    assert_eq!((table().tasks.len(), wait(next.pid())), (1, None));
}

pub async fn forked() {
    let (_pool, folder) = (pool(), tempfile::tempdir().unwrap());
    let mut pid: Option<Pid> = None;
    let last = next_operation();
    let path = folder.path().to_owned();
    let operation = child(async {
        pid = Some(current());
        fs::metadata(path).await
    });
    let mut operation = Box::pin(operation);
    assert!(poll(operation.as_mut()).is_pending());
    // The child has the same memory. There the operation is cancelled, and the task ends.
    in_child(|| {
        let Poll::Ready(Err(error)) = poll(operation.as_mut()) else { panic!("the parent runs it") };
        assert_eq!(error.raw_os_error(), Some(libc::ECANCELED));
    });
    let rows = table().tasks;
    assert_eq!(rows.len(), 1);
    drop(operation);
    assert!(table().tasks.is_empty());
    let row = rows[0].wait.clone().unwrap();
    let (kind, _, operation) = of_next(last, "FSTAT").unwrap();
    assert_eq!((&*row.site.unwrap().first, row.resource), (&*kind, operation));
    assert_eq!(format!("<0.{}.0>", rows[0].task.pid), pid.unwrap().to_string());
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}
