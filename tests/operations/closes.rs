//! The tag of a CLOSE when an I/O thread is the last user of the file.

use std::future::Future;
use std::io::Read;
use std::path::Path;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::thread;

use dyntrace::aio_pool::Pool;
use dyntrace::efile::{Command, Driver, Inline};
use dyntrace::fs::OpenOptions;
use dyntrace::with_tag;
use dyntrace_reader::FileOperation;
use tokio::io::AsyncWriteExt;

use super::{fifo, recorded, run};

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A pool that runs jobs only on request, and all of them.
fn stepped() -> (Pool, Driver) {
    let pool = Pool::builder().threads(0).build();
    (pool.clone(), Driver::new(pool).inline(Inline::Off))
}

/// Returns the user tag of the only CLOSE of `path`, and whether the thread that ran it also submitted it.
fn close_of(operations: &[FileOperation<'_>], path: &Path) -> (String, bool) {
    let path = path.as_os_str().as_encoded_bytes();
    let is_meant =
        |operation: &&FileOperation<'_>| operation.path == path && operation.request.command == Command::Close.number();
    let closes: Vec<_> = operations.iter().filter(is_meant).collect();
    assert_eq!(closes.len(), 1);
    (String::from_utf8(closes[0].request.user_tag.to_vec()).unwrap(), Some(closes[0].submitter) == closes[0].worker)
}

#[test]
fn a_file_dropped_during_a_write_is_closed_on_behalf_of_whoever_dropped_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = fifo(&folder);
    let act = async {
        // With one thread, all operations submitted before a returned one have returned, too.
        let driver = Driver::new(Pool::builder().threads(1).slow_threads(0).build());
        let mut other_end = std::fs::File::options().read(true).write(true).open(&path).unwrap();
        let write = with_tag("writes", async {
            let mut file = OpenOptions::new().write(true).open_with(&driver, &path).await.unwrap();
            // More than a FIFO holds.
            file.write_all(&[7; 1 << 20]).await.unwrap();
            file
        });
        let file = write.await;
        with_tag("drops", async move { drop(file) }).await;
        other_end.read_exact(&mut [0; 1 << 20]).unwrap();
        drop(other_end);
        let is_open = || {
            let mut open = std::fs::read_dir("/proc/self/fd").unwrap();
            open.any(|name| std::fs::read_link(name.unwrap().path()).is_ok_and(|of| of == path))
        };
        while is_open() {
            tokio::task::yield_now().await;
        }
        let other = OpenOptions::new().read(true).open_with(&driver, "/dev/null").await.unwrap();
        other.close().await.unwrap();
    };
    recorded(|| run(act), |(), operations| assert_eq!(close_of(operations, &path), ("drops".to_owned(), true)));
}

#[test]
fn a_close_that_waits_for_an_abandoned_operation_is_on_behalf_of_whoever_closes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let (pool, driver) = stepped();
    let act = async {
        let options = OpenOptions::new().write(true).create(true).clone();
        let mut open = pin!(options.open_with(&driver, &path));
        assert!(poll(open.as_mut()).is_pending());
        assert!(pool.run_one());
        let file = open.await.unwrap();
        // The queued job of its system call holds the file.
        assert!(poll(pin!(with_tag("syncs", file.sync_all()))).is_pending());
        let mut close = pin!(with_tag("closes", file.close()));
        assert!(poll(close.as_mut()).is_pending());
        let worker = pool.clone();
        let worked = thread::spawn(move || worker.run_one() && worker.run_one() && !worker.run_one());
        assert!(worked.join().unwrap(), "the sync, and then the CLOSE");
        close.await.unwrap();
    };
    recorded(|| run(act), |(), operations| assert_eq!(close_of(operations, &path), ("closes".to_owned(), true)));
}

#[test]
fn a_file_opened_for_nobody_is_closed_on_behalf_of_whoever_wanted_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let (pool, driver) = stepped();
    let options = OpenOptions::new().write(true).create(true).clone();
    let act = || {
        {
            let mut open = pin!(options.open_with(&driver, &path));
            // Dropped outside of the tag's scope.
            assert!(run(with_tag("opens", async { poll(open.as_mut()).is_pending() })));
            assert!(pool.run_one());
        }
        assert!(pool.run_one(), "the CLOSE");
    };
    recorded(act, |(), operations| assert_eq!(close_of(operations, &path).0, "opens"));
}
