//! Monitors that end, that cannot begin, and functions that panic.

use std::mem;
use std::panic::panic_any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use dyntrace::monitor::{self, Builder, Error, Kind, Monitor};

use crate::{alone, on_a_thread};

/// A monitor of which one poll that lasts can be seen.
fn polls() -> Builder {
    Builder::new().long_schedule(Duration::from_millis(5))
}

/// Blocks a task until `until` has returned.
fn block(until: impl FnOnce()) {
    let (release, waits) = mpsc::channel::<()>();
    let task = on_a_thread(async move { waits.recv().unwrap() });
    until();
    release.send(()).unwrap();
    task.join().unwrap();
}

#[test]
fn a_function_that_panics_is_called_again() {
    let _alone = alone();
    let (sender, events) = mpsc::channel();
    let calls = AtomicU64::new(0);
    let monitor = polls().on_event(move |_| {
        sender.send(()).unwrap();
        assert!(calls.fetch_add(1, Ordering::Relaxed) > 0, "the first call panics");
    });
    let monitor = monitor.start().unwrap();
    block(|| events.recv().unwrap());
    block(|| events.recv().unwrap());
    let counts = monitor.counts();
    assert_eq!((counts.of(Kind::LongSchedule), counts.panics()), (2, 1));
}

/// The payload of a panic may panic when it is dropped.
#[test]
fn a_panic_that_panics_when_it_is_dropped_does_not_end_the_monitor() {
    struct Grenade;
    impl Drop for Grenade {
        fn drop(&mut self) {
            panic!("again");
        }
    }
    let _alone = alone();
    let (sender, events) = mpsc::channel();
    let monitor = polls().on_event(move |_| {
        sender.send(()).unwrap();
        panic_any(Grenade);
    });
    let monitor = monitor.start().unwrap();
    for _ in 0..2 {
        block(|| events.recv_timeout(Duration::from_secs(10)).unwrap());
    }
    assert_eq!(monitor.counts().of(Kind::LongSchedule), 2);
}

#[test]
fn the_program_counts_the_events_of_all_its_monitors() {
    let _alone = alone();
    let of = |counts: Option<monitor::Counts>| counts.unwrap_or_default().of(Kind::LongSchedule);
    let before = of(monitor::counts());
    for _ in 0..2 {
        let (sender, events) = mpsc::channel();
        let monitor = polls().on_event(move |_| sender.send(()).unwrap()).start().unwrap();
        block(|| events.recv().unwrap());
        assert_eq!(monitor.counts().of(Kind::LongSchedule), 1);
    }
    assert_eq!(of(monitor::counts()), before + 2);
}

#[test]
fn a_function_may_end_the_monitor() {
    static MONITOR: Mutex<Option<Monitor>> = Mutex::new(None);
    let _alone = alone();
    let (sender, ended) = mpsc::channel();
    let (started, may_end) = mpsc::channel::<()>();
    let may_end = Mutex::new(may_end);
    let monitor = polls().on_event(move |_| {
        may_end.lock().unwrap().recv().unwrap();
        drop(MONITOR.lock().unwrap().take());
        // Another one can begin at once.
        let next = Builder::new().busy_port(1).start();
        sender.send(next.map(drop)).unwrap();
    });
    *MONITOR.lock().unwrap() = Some(monitor.start().unwrap());
    started.send(()).unwrap();
    block(|| ended.recv().unwrap().unwrap());
    // The thread has ended, and dropped the function.
    assert!(ended.recv().is_err());
}

#[test]
fn an_ended_monitor_leaves_its_thread() {
    struct Dropped(mpsc::Sender<()>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
        }
    }
    let _alone = alone();
    let (sender, dropped) = mpsc::channel();
    let function = Dropped(sender);
    let monitor = Builder::new().long_wait(Duration::from_secs(3600)).on_event(move |_| _ = &function).start().unwrap();
    drop(monitor);
    dropped.recv().unwrap();
}

#[test]
fn a_second_monitor_is_refused_with_the_place_of_the_first() {
    let _alone = alone();
    let line = line!() + 1;
    let first = Builder::new().busy_port(5).start().unwrap();
    let error = Builder::new().busy_port(6).start().unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "cannot start a monitor: the program has one, started at tests/monitor/ends.rs:{line}; drop that one first, or give one \
             builder all limits"
        )
    );
    drop(first);
    Builder::new().busy_port(6).start().unwrap();
}

#[test]
fn wrong_limits_are_refused() {
    let _alone = alone();
    for (builder, why) in [
        (Builder::new(), "cannot start a monitor: a monitor needs a limit: long_schedule:TIME"),
        (Builder::new().snapshot(true), "a monitor needs a limit"),
        (
            Builder::new().long_wait(Duration::from_micros(999)),
            "the limit \"999us\" of long_wait: expected a time from 1ms",
        ),
        (Builder::new().long_schedule(Duration::MAX), "of long_schedule: expected a time from 1ms to 24h"),
    ] {
        let error = builder.start().unwrap_err();
        assert!(matches!(error, Error::Limits(_)) && error.to_string().contains(why), "{error}");
    }
    // None of these has the place of the monitor.
    Builder::new().too_many_tasks(usize::MAX).start().unwrap();
}

#[test]
fn a_forked_child_has_no_monitor_and_can_start_one() {
    let _alone = alone();
    let of_parent = polls().start().unwrap();
    // SAFETY: the child uses the allocator and starts a thread, which the C library allows after a fork, and ends without exit handlers.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let has_had_none = monitor::counts().is_none();
        let started = Builder::new().too_many_tasks(usize::MAX).start().is_ok();
        let is_alone = Builder::new().busy_port(1).start();
        // The parent's, of which the child has a copy.
        mem::drop(of_parent);
        let is_refused = matches!(Builder::new().busy_port(1).start(), Err(Error::Running(Some(_))));
        let right = has_had_none && started && is_alone.is_ok() && is_refused;
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(!right)) };
    }
    let mut status = 0;
    // SAFETY: the child made above, and a place for its status.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    assert!(matches!(Builder::new().busy_port(1).start(), Err(Error::Running(Some(_)))), "the parent's goes on");
    drop(of_parent);
}
