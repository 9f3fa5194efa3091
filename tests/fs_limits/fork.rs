//! Forks of a program while its pool runs jobs.

use std::future::Future;
use std::io::{Read, Write};
use std::path::Path;
use std::pin::Pin;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use dyntrace::fs::{self, File};
use rustix::io::Errno;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

use crate::forked::in_child;
use crate::{errno, inside, run};

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn a_child_works_with_a_pool_of_its_own() {
    // No other test may fork, or be forked, in this process.
    if !inside("fork::a_child_works_with_a_pool_of_its_own", |program| Command::new(program)) {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Keeps the pool's locks and the list of runtimes in use at each fork.
        for operations in [usize::MAX, 1] {
            let stop = &stop;
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    run(async {
                        for _ in (0..operations).take_while(|_| !stop.load(Ordering::Relaxed)) {
                            fs::metadata("/").await.unwrap();
                        }
                    });
                }
            });
        }
        let stops = stop_when_dropped(&stop);
        for _ in 0..50 {
            let mut file = run(async {
                let options = File::options().read(true).write(true).create(true).truncate(true).clone();
                let mut file = options.open(&path).await.unwrap();
                file.write_all(b"parent ").await.unwrap();
                file.flush().await.unwrap();
                file
            });
            in_child(|| {
                run(works(&path, &mut file));
                // Its children have their own.
                in_child(|| assert!(run(fs::try_exists(&path)).unwrap()));
                run(fs::metadata(&path)).unwrap();
            });
            run(async {
                // The child shared the open file, and so its position.
                file.write_all(b" parent").await.unwrap();
                file.close().await.unwrap();
                assert_eq!(fs::read(&path).await.unwrap(), b"parent child parent");
            });
        }
        drop(stops);
    });
}

/// Ends the threads, also if an assertion fails.
fn stop_when_dropped(stop: &AtomicBool) -> impl Drop {
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    Stop(stop)
}

/// The child's operations, on an open file of its parent and on others.
async fn works(path: &Path, file: &mut File) {
    file.write_all(b"child").await.unwrap();
    file.flush().await.unwrap();
    assert_eq!(file.read_at(vec![0; 6], 0).await.1, b"parent");
    assert_eq!(file.metadata().await.unwrap().len(), 12);
    assert_eq!(file.stream_position().await.unwrap(), 12);
    file.try_clone().await.unwrap().close().await.unwrap();
    let own = File::open(path).await.unwrap();
    own.close().await.unwrap();
    assert_eq!(fs::read(path).await.unwrap(), b"parent child");
}

#[test]
fn operations_in_flight_at_a_fork_are_the_parents() {
    if !inside("fork::operations_in_flight_at_a_fork_are_the_parents", |program| Command::new(program)) {
        return;
    }
    let cancelled = Some(Errno::CANCELED.raw_os_error());
    let place = tempfile::tempdir().unwrap();
    let fifo = |name| {
        let path = place.path().join(name);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    };
    let (for_write, for_open) = (fifo("write"), fifo("open"));
    // More than a FIFO holds: the write blocks until a read.
    let data = vec![7; 1 << 20];
    let mut writing = run(async {
        let mut writing = File::options().read(true).write(true).open(&for_write).await.unwrap();
        writing.write_all(&data).await.unwrap();
        writing
    });
    let mut flush = Box::pin(async move { (writing.flush().await, writing) });
    assert!(poll_once(flush.as_mut()).is_pending());
    let mut open = Box::pin(File::open(&for_open));
    assert!(poll_once(open.as_mut()).is_pending());

    in_child(|| {
        let Poll::Ready((flushed, writing)) = poll_once(flush.as_mut()) else { panic!("it hangs") };
        assert_eq!(errno(flushed), cancelled);
        let Poll::Ready(opened) = poll_once(open.as_mut()) else { panic!("it hangs") };
        assert_eq!(errno(opened), cancelled);
        drop(writing);
        assert!(run(fs::try_exists("/")).unwrap());
    });

    let mut reader = std::fs::File::open(&for_write).unwrap();
    let reading = std::thread::spawn(move || {
        let mut read = vec![0; 1 << 20];
        reader.read_exact(&mut read).unwrap();
        read
    });
    let (flushed, writing) = run(flush);
    flushed.unwrap();
    assert!(reading.join().unwrap() == data);
    let mut writer = std::fs::File::options().write(true).open(&for_open).unwrap();
    writer.write_all(b"x").unwrap();
    run(async {
        let mut byte = [0];
        open.await.unwrap().read_exact(&mut byte).await.unwrap();
        assert_eq!(byte, *b"x");
        writing.close().await.unwrap();
    });
}

/// Closing or converting a file in the child does not wait for the parent's operation in flight.
#[test]
fn a_file_that_the_parent_uses_is_given_up_in_the_child() {
    if !inside("fork::a_file_that_the_parent_uses_is_given_up_in_the_child", |program| Command::new(program)) {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let paths = ["closed", "given", "to tokio"].map(|name| place.path().join(name));
    // More than a FIFO holds: the writes block until a read.
    let data = vec![7; 1 << 20];
    let [closed, given, to_tokio] = paths.each_ref().map(|path| {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        run(async {
            let mut file = File::options().read(true).write(true).open(path).await.unwrap();
            file.write_all(&data).await.unwrap();
            file
        })
    });
    in_child(|| {
        run(async {
            assert_eq!(errno(closed.close().await), Some(Errno::CANCELED.raw_os_error()));
            given.into_std().await.metadata().unwrap();
            tokio::fs::File::from(to_tokio).try_into_std().unwrap().metadata().unwrap();
            fs::metadata("/").await.unwrap();
        });
    });
    // The parent has dropped its files, and completes their accepted writes.
    for path in paths {
        let mut read = vec![0; data.len()];
        std::fs::File::open(path).unwrap().read_exact(&mut read).unwrap();
        assert!(read == data);
    }
}
