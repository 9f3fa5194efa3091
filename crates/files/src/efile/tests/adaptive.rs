//! The adaptive mode of the inline path. The pool has no threads, so an operation that is ready at once was a hit.

use std::future::Future;
use std::io::SeekFrom;
use std::pin::pin;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncSeekExt};

use super::inline::{MISSED, PAGE, cached, contents, finish_now, open};
use super::{DONE, finish, poll, stepped};
use crate::aio_pool::{Pool, Port};
use crate::efile::inline::{BackOff, Miss, Permit, Trial};
use crate::efile::observe::operations;
use crate::efile::{Command, Driver, Inline, Request};
use crate::fs::OpenOptions;

fn stepped_adaptive() -> (Pool, Driver, Port) {
    let (pool, driver, port) = stepped();
    (pool, driver.inline(Inline::Adaptive), port)
}

/// Longer than an attempt may take.
fn dawdle() {
    thread::sleep(Duration::from_micros(100));
}

/// An operation whose attempt sleeps, and then hits.
async fn slow_hit(driver: &Driver, permit: Option<Permit>) {
    let attempt = |_: &Request, _: &mut (), _: &mut Trial| {
        dawdle();
        Ok(())
    };
    let request = Request::new(Command::Pwd);
    driver.run_inline(permit, driver.port(), request, (), attempt, || |_, ()| Ok(())).await.0.unwrap();
}

#[test]
fn the_second_slow_answer_sends_the_next_operations_to_the_pool() {
    static BACK_OFF: BackOff = BackOff::new();
    let (_pool, driver, port) = stepped_adaptive();
    let permit = Permit::on(Inline::Adaptive, Some(&BACK_OFF));
    assert!(permit.is_some());
    finish_now(slow_hit(&driver, permit)).unwrap();
    assert!(Permit::on(Inline::Adaptive, Some(&BACK_OFF)).is_some(), "the machine may have been busy");
    let mut second = pin!(slow_hit(&driver, permit));
    assert!(poll(second.as_mut()).is_pending(), "the thread's turn is over");
    assert!(poll(second.as_mut()).is_ready());
    // Hits all the same.
    assert_eq!(operations(port), [(Command::Pwd, DONE.to_vec()), (Command::Pwd, DONE.to_vec())]);
    assert_eq!(BACK_OFF.level(), 1);
    assert!(!BACK_OFF.allows(|| Duration::from_micros(1)), "the clock is past that only after the pause");
    assert!(Permit::on(Inline::Always, Some(&BACK_OFF)).is_some(), "that mode does not ask");
}

#[test]
fn a_path_that_leads_to_a_paused_file_system_is_a_miss() {
    static BACK_OFF: BackOff = BackOff::new();
    let (pool, driver, port) = stepped_adaptive();
    BACK_OFF.pause_for_ever();
    let attempt = |_: &Request, trial: &mut Trial| {
        trial.on(&BACK_OFF)?;
        Ok("the attempt's")
    };
    let operation = driver.try_or_run(Request::new(Command::Pwd), attempt, |_| Ok("the pool's"));
    assert_eq!(finish(&pool, operation).unwrap(), "the pool's");
    assert_eq!(operations(port), [(Command::Pwd, MISSED.to_vec())]);
}

#[test]
fn misses_in_a_row_pause() {
    static BACK_OFF: BackOff = BackOff::new();
    let (pool, driver, port) = stepped_adaptive();
    let mut misses = 0;
    // An attempt that a slow machine delays counts more.
    while BACK_OFF.level() == 0 {
        misses += 1;
        assert!(misses <= 8, "no pause after eight misses");
        let attempt = |_: &Request, _: &mut (), _: &mut Trial| Err::<(), _>(Miss::NotCached);
        let permit = Permit::on(Inline::Adaptive, Some(&BACK_OFF));
        let request = Request::new(Command::Pwd);
        finish(&pool, driver.run_inline(permit, port, request, (), attempt, || |_, ()| Ok(()))).0.unwrap();
    }
    assert_eq!(BACK_OFF.level(), 1);
}

/// In a thread of its own: turns are counted for each.
#[test]
fn a_task_yields_once_its_thread_has_answered_for_long() {
    thread::spawn(|| {
        let (_pool, driver, _) = stepped_adaptive();
        let permit = Driver::permit(Inline::Adaptive);
        finish_now(slow_hit(&driver, permit)).unwrap();
        for _ in 0..3 {
            let mut next = pin!(slow_hit(&driver, permit));
            assert!(poll(next.as_mut()).is_pending());
            assert!(poll(next.as_mut()).is_ready());
        }
        finish_now(slow_hit(&driver, Driver::permit(Inline::Always))).unwrap();
    })
    .join()
    .unwrap();
}

/// A future that gives way before it asks holds nothing that a file waits for, even if it is forgotten.
#[test]
fn a_forgotten_future_that_has_given_way_does_not_keep_a_file_open() {
    fn begin_and_forget(future: impl Future) {
        let mut future = Box::pin(future);
        assert!(poll(future.as_mut()).is_pending());
        std::mem::forget(future);
    }

    let Some((_folder, path)) = cached() else { return };
    thread::spawn(move || {
        let (pool, driver, _) = stepped_adaptive();
        for operation in 0..3 {
            let mut file = open(&pool, &driver, &path);
            finish(&pool, slow_hit(&driver, Driver::permit(Inline::Adaptive)));
            match operation {
                0 => begin_and_forget(file.metadata()),
                1 => begin_and_forget(file.read_at(vec![0; 1], 0)),
                _ => begin_and_forget(file.read(&mut [0; 1])),
            }
            finish(&pool, file.close()).unwrap();
        }
    })
    .join()
    .unwrap();
}

#[test]
fn cached_reads_and_metadata_are_answered_at_once() {
    let Some((_folder, path)) = cached() else { return };
    let (pool, driver, _) = stepped_adaptive();
    let file = open(&pool, &driver, &path);
    let (mut reads, mut looks) = (0, 0);
    // A slow machine makes attempts pause now and then.
    while reads == 0 || looks == 0 {
        match finish_now(file.read_at(vec![0; PAGE], 0)) {
            Some((answer, buffer)) => {
                assert_eq!((answer.unwrap(), &buffer[..]), (PAGE, &contents()[..PAGE]));
                reads += 1;
            }
            None => while pool.run_one() {},
        }
        match finish_now(file.metadata()) {
            Some(metadata) => {
                assert_eq!(metadata.unwrap().len(), contents().len() as u64);
                looks += 1;
            }
            None => while pool.run_one() {},
        }
    }
}

/// A read at a cursor waits for a read of another file with this cursor.
#[test]
fn a_cursor_that_two_files_share_reads_in_the_pool() {
    let Some((_folder, path)) = cached() else { return };
    let (pool, driver, _) = stepped_adaptive();
    let mut file = open(&pool, &driver, &path);
    let mut clone = finish(&pool, file.try_clone()).unwrap();
    for file in [&mut file, &mut clone] {
        finish(&pool, file.seek(SeekFrom::Start(0))).unwrap();
        let mut bytes = [0; 100];
        let mut read = pin!(file.read(&mut bytes));
        assert!(poll(read.as_mut()).is_pending());
        assert_eq!(finish(&pool, read).unwrap(), 100);
        assert_eq!(bytes[..], contents()[..100]);
    }
}

#[test]
fn a_file_has_a_mode_of_its_own() {
    let Some((_folder, path)) = cached() else { return };
    let (pool, driver, _) = stepped_adaptive();
    let mut options = OpenOptions::new();
    let file = finish(&pool, options.read(true).inline(Inline::Off).open_with(&driver, &path)).unwrap();
    assert!(matches!(poll(pin!(file.read_at(vec![0; 1], 0))), Poll::Pending));
    assert!(matches!(poll(pin!(file.metadata())), Poll::Pending));
    file.set_inline(Inline::Always);
    assert!(finish_now(file.read_at(vec![0; 1], 0)).is_some());
    file.set_inline(false);
    assert!(finish_now(file.read_at(vec![0; 1], 0)).is_none());
}
