//! Futures that are dropped at every stage, alone or with their file or their runtime.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{File, OpenOptions};
use crate::aio_pool::Pool;
use crate::efile::observe::Stage::{InternalEntry, Return};
use crate::efile::observe::operations;
use crate::efile::tests::{CANCELLED, DONE, enter, finish, poll, stepped};
use crate::efile::{Command as Asked, Driver};

/// More than a FIFO holds: a write of this size lasts until the other end reads.
const MUCH: usize = 1 << 20;

fn fifo(place: &TempDir) -> PathBuf {
    let path = place.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

/// A FIFO that is opened for both, so that opening it does not wait for another end.
fn open_fifo(pool: &Pool, driver: &Driver, path: &Path) -> File {
    finish(pool, OpenOptions::new().read(true).write(true).open_with(driver, path)).unwrap()
}

/// Has a thread run the pool's next operation. Returns when the operation runs.
fn take_up(pool: &Pool, file: &File, command: Asked) -> JoinHandle<bool> {
    let worker = {
        let pool = pool.clone();
        thread::spawn(move || pool.run_one())
    };
    while operations(file.port()).last() != Some(&(command, vec![InternalEntry])) {
        thread::yield_now();
    }
    worker
}

#[test]
fn an_open_is_dropped_at_every_stage() {
    let (pool, driver, _) = stepped();
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    let options = OpenOptions::new().write(true).create(true).clone();

    drop(options.open_with(&driver, &path));
    assert!(!pool.run_one(), "nothing happens before the first poll");

    enter(&pool, pin!(options.open_with(&driver, &path)));
    while pool.run_one() {}
    assert!(!path.exists(), "it was cancelled in the queue");

    {
        let mut answered = pin!(options.open_with(&driver, &path));
        enter(&pool, answered.as_mut());
        assert!(pool.run_one());
    }
    assert!(path.exists());
    assert!(pool.run_one() && !pool.run_one(), "its CLOSE, and nothing else");

    // It runs until the other end is opened, which can be done as soon as it runs.
    let fifo = fifo(&place);
    let open_other_end = || {
        rustix::fs::open(&fifo, rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::NONBLOCK, rustix::fs::Mode::empty())
    };
    let worker = {
        let reader = OpenOptions::new().read(true).clone();
        let mut running = pin!(reader.open_with(&driver, &fifo));
        enter(&pool, running.as_mut());
        let worker = {
            let pool = pool.clone();
            thread::spawn(move || pool.run_one())
        };
        while open_other_end().is_err() {
            thread::yield_now();
        }
        worker
    };
    assert!(worker.join().unwrap());
    while pool.run_one() {}
    // A child that another test has forked has the file, too, until it ends.
    let deadline = Instant::now() + Duration::from_secs(60);
    let closed = loop {
        match open_other_end() {
            Err(error) => break error,
            Ok(_) => assert!(Instant::now() < deadline, "the one that was opened is closed"),
        }
        thread::yield_now();
    };
    assert_eq!(closed, rustix::io::Errno::NXIO);
}

#[test]
fn a_read_is_dropped_at_every_stage() {
    let (pool, driver, _) = stepped();
    let place = tempfile::tempdir().unwrap();
    let path = fifo(&place);
    let mut file = open_fifo(&pool, &driver, &path);
    let port = file.port();
    let mut other = std::fs::File::options().write(true).open(&path).unwrap();
    let mut byte = [0];

    drop(file.read(&mut byte));
    assert!(!pool.run_one(), "nothing happens before the first poll");

    // Queued, then completed: the operation belongs to the file, which keeps the bytes.
    for stage in 0..2 {
        other.write_all(b"x").unwrap();
        {
            let mut dropped = pin!(file.read(&mut byte));
            assert!(poll(dropped.as_mut()).is_pending());
            if stage == 1 {
                assert!(pool.run_one());
            }
        }
        assert_eq!(finish(&pool, file.read(&mut byte)).unwrap(), 1);
        assert_eq!(byte, *b"x");
    }
    let reads = vec![(Asked::Read, DONE.to_vec()); 2];
    assert_eq!(operations(port)[1..], reads);

    // Running, and the file is dropped with it.
    assert!(poll(pin!(file.read(&mut byte))).is_pending());
    let worker = take_up(&pool, &file, Asked::Read);
    drop(file);
    assert!(!pool.run_one(), "the file is in use: it is not closed");
    other.write_all(b"x").unwrap();
    assert!(worker.join().unwrap());
    assert!(pool.run_one() && !pool.run_one(), "its CLOSE, and nothing else");
    assert_eq!(operations(port)[3..], [(Asked::Read, DONE.to_vec()), (Asked::Close, DONE.to_vec())]);
}

#[test]
fn a_write_is_dropped_at_every_stage() {
    let (pool, driver, _) = stepped();
    let place = tempfile::tempdir().unwrap();
    let path = fifo(&place);
    let mut file = open_fifo(&pool, &driver, &path);
    let port = file.port();
    let mut other = std::fs::File::options().read(true).open(&path).unwrap();

    drop(file.write(b"never"));
    assert!(!pool.run_one(), "nothing happens before the first poll");

    // The first is queued, the second waits for it and was not accepted.
    assert!(poll(pin!(file.write(b"first"))).is_ready());
    assert!(poll(pin!(file.write(b"never"))).is_pending());
    assert!(pool.run_one() && !pool.run_one());
    // A flush that is dropped takes nothing back.
    let data = vec![7; MUCH];
    assert!(poll(pin!(file.write_all(&data))).is_ready());
    assert!(poll(pin!(file.flush())).is_pending());
    let worker = take_up(&pool, &file, Asked::Write);
    assert!(poll(pin!(file.flush())).is_pending());
    drop(file);
    assert!(!pool.run_one(), "the file is in use: it is not closed");
    let mut read = vec![0; 5 + MUCH];
    other.read_exact(&mut read).unwrap();
    assert!(worker.join().unwrap());
    assert_eq!((&read[..5], read[5..] == data), (&b"first"[..], true));
    assert!(pool.run_one() && !pool.run_one(), "its CLOSE, and nothing else");
    let commands = [Asked::Open, Asked::Write, Asked::Write, Asked::Close];
    assert_eq!(operations(port), commands.map(|command| (command, DONE.to_vec())));
}

#[test]
fn positional_operations_are_dropped_at_every_stage() {
    let (pool, driver, _) = stepped();
    let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    let file = finish(&pool, OpenOptions::new().read(true).write(true).open_with(&driver, &path)).unwrap();
    let port = file.port();

    drop(file.write_at(b"never".to_vec(), 0));
    drop(file.read_vectored_at(vec![vec![0; 5]], 0));
    assert!(!pool.run_one(), "nothing happens before the first poll");
    // Three in the queue: two go, one stays.
    {
        assert!(poll(pin!(file.write_at(b"never".to_vec(), 0))).is_pending());
        let mut stays = pin!(file.write_vectored_at(vec![b"st".to_vec(), b"ays".to_vec()], 0));
        assert!(poll(stays.as_mut()).is_pending());
        assert!(poll(pin!(file.read_at(vec![0; 5], 0))).is_pending());
        assert_eq!(finish(&pool, stays).0.unwrap(), 5);
        while pool.run_one() {}
    }
    assert_eq!(std::fs::read(&path).unwrap(), b"stays");
    // Answered: it was done.
    {
        let mut answered = pin!(file.write_at(b"done ".to_vec(), 0));
        assert!(poll(answered.as_mut()).is_pending());
        assert!(pool.run_one());
    }
    assert_eq!(std::fs::read(&path).unwrap(), b"done ");
    let cancelled = vec![Return(CANCELLED)];
    assert_eq!(
        operations(port)[1..],
        [
            (Asked::Pwritev, cancelled.clone()),
            (Asked::Pwritev, DONE.to_vec()),
            (Asked::Preadv, cancelled),
            (Asked::Pwritev, DONE.to_vec()),
        ]
    );
}

/// A runtime ends with operations in flight. It waits for nothing, and every operation returns once. Each file contains the bytes that it
/// accepted, and is closed.
#[test]
fn a_runtime_ends_with_operations_in_flight() {
    for many in [false, true] {
        let (pool, driver, _) = stepped();
        let ended = Arc::new(AtomicBool::new(false));
        let workers = [(); 3].map(|()| {
            let (pool, ended) = (pool.clone(), Arc::clone(&ended));
            thread::spawn(move || {
                // Loaded before `run_one`, so that all operations submitted before the end run.
                while {
                    let goes_on = !ended.load(Ordering::SeqCst);
                    pool.run_one() || goes_on
                } {
                    thread::yield_now();
                }
            })
        });
        let place = Arc::new(tempfile::tempdir().unwrap());
        let fifo = fifo(&place);
        let mut other_end = std::fs::File::options().read(true).write(true).open(&fifo).unwrap();
        let mut runtime = if many {
            tokio::runtime::Builder::new_multi_thread()
        } else {
            tokio::runtime::Builder::new_current_thread()
        };
        let runtime = runtime.worker_threads(2).build().unwrap();
        let (ports, opened) = std::sync::mpsc::channel();
        for task in 0..8 {
            let (driver, place, fifo, ports) = (driver.clone(), Arc::clone(&place), fifo.clone(), ports.clone());
            runtime.spawn(async move {
                let path = place.path().join(task.to_string());
                let path = if task == 7 { fifo } else { path };
                let options = OpenOptions::new().read(true).write(true).create(true).clone();
                let mut file = options.open_with(&driver, path).await.unwrap();
                ports.send(file.port()).unwrap();
                if task == 7 {
                    // For ever, as far as this task goes.
                    file.read_exact(&mut [0; 9]).await.unwrap();
                }
                for number in 0u64.. {
                    // Accepted at the first poll; the count of accepted bytes is lost.
                    file.write_all(&number.to_le_bytes()).await.unwrap();
                    if number % 16 == 0 {
                        let _ = tokio::join!(file.read_at(vec![0; 8], 0), file.metadata(), file.sync_data());
                    }
                }
            });
        }
        let ports: Vec<_> =
            if many { opened.iter().take(8).collect() } else { runtime.block_on(wait_for_eight(opened)) };
        drop(runtime);
        other_end.write_all(b"released.").unwrap();
        ended.store(true, Ordering::SeqCst);
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        for port in ports {
            let operations = operations(port);
            assert!(matches!(operations.last(), Some((Asked::Close, _))), "{operations:?}");
            for (command, stages) in operations {
                assert!(stages == DONE || stages == [Return(CANCELLED)], "{command}: {stages:?}");
                assert!(stages == DONE || !matches!(command, Asked::Open | Asked::Write | Asked::Close), "{command}");
            }
        }
        for task in 0..7 {
            let bytes = std::fs::read(place.path().join(task.to_string())).unwrap();
            for (number, bytes) in bytes.chunks(8).enumerate() {
                assert_eq!(bytes, (number as u64).to_le_bytes());
            }
        }
    }
}

/// Receives eight values without blocking the thread, which also runs the tasks.
async fn wait_for_eight<T>(opened: std::sync::mpsc::Receiver<T>) -> Vec<T> {
    let mut taken = Vec::new();
    while taken.len() < 8 {
        taken.extend(opened.try_iter());
        tokio::task::yield_now().await;
    }
    taken
}
