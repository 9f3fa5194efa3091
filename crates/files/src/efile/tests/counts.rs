//! The pool counts the driver's operations by command.

use std::io;
use std::pin::pin;

use super::{finish, open, poll, request, stepped};
use crate::aio_pool::Pool;
use crate::efile::inline::{Miss, Trial};
use crate::efile::{Command, Inline, Request};

/// The commands of the pool, with their operations, errors and bytes.
fn counts(pool: &Pool) -> Vec<(&'static str, u64, u64, u64)> {
    let commands = pool.metrics().commands;
    assert!(commands.iter().all(|sums| sums.driver == "efile_drv"));
    commands.iter().map(|sums| (sums.command, sums.operations, sums.errors, sums.bytes)).collect()
}

#[test]
fn operations_that_ran_are_counted_with_their_errors_and_bytes() {
    let (pool, driver, _) = stepped();
    for bytes in [5, 6] {
        let read = move |request: &Request| {
            request.add_moved(bytes);
            Ok(())
        };
        finish(&pool, driver.run(Request::new(Command::ReadFile), read)).unwrap();
    }
    finish(&pool, driver.run(request(), |_| Err::<(), _>(std::io::ErrorKind::NotFound.into()))).unwrap_err();
    finish(&pool, driver.run(request(), |_| -> std::io::Result<()> { panic!("as it shall") })).unwrap_err();
    {
        let mut cancelled = pin!(driver.run(request(), |_| Ok(())));
        assert!(poll(cancelled.as_mut()).is_pending());
    }
    assert!(pool.run_one());
    assert_eq!(counts(&pool), [("PWD", 2, 2, 0), ("READ_FILE", 2, 0, 11)]);
}

#[test]
fn inline_answers_are_counted_and_are_no_jobs() {
    let (pool, driver, _) = stepped();
    let driver = driver.inline(Inline::Always);
    let operation = |command, answer: Option<i32>| {
        let attempt = move |request: &Request, _: &mut Trial| {
            request.add_moved(5);
            match answer {
                Some(errno) if errno > 0 => Err(io::Error::from_raw_os_error(errno).into()),
                Some(_) => Ok(()),
                None => Err(Miss::NotCached),
            }
        };
        finish(&pool, driver.try_or_run(Request::new(command), attempt, |_| Ok(()))).is_ok()
    };
    assert!(operation(Command::Read, Some(0)) && operation(Command::Read, Some(0)));
    assert!(!operation(Command::Read, Some(libc::ENOENT)) && operation(Command::Open, Some(0)));
    assert_eq!(counts(&pool), [("OPEN", 1, 0, 5), ("READ", 3, 1, 15)]);
    assert_eq!(pool.metrics().fast.operations, 0);
    // The pool counts it, when it has missed.
    assert!(operation(Command::Open, None));
    assert_eq!(counts(&pool), [("OPEN", 2, 0, 10), ("READ", 3, 1, 15)]);
    assert_eq!(pool.metrics().fast.operations, 1);
}

#[test]
fn syncs_that_share_a_call_and_closes_count_each() {
    let (pool, driver, _) = stepped();
    let file = open(&pool, &driver);
    {
        let (mut one, mut other) = (pin!(file.sync_all()), pin!(file.sync_data()));
        assert!(poll(one.as_mut()).is_pending() && poll(other.as_mut()).is_pending());
        finish(&pool, one).unwrap();
        finish(&pool, other).unwrap();
    }
    drop(file);
    while pool.run_one() {}
    assert_eq!(counts(&pool), [("CLOSE", 1, 0, 0), ("FDATASYNC", 1, 0, 0), ("FSYNC", 1, 0, 0), ("OPEN", 1, 0, 0)]);
}
