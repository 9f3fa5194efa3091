//! Polls that last, and the place where they stand.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use dyntrace::monitor::{Builder, Kind};

use crate::{Watched, on_a_thread, one_thread};

fn watched() -> Watched {
    Watched::by(Builder::new().long_schedule(Duration::from_millis(20)))
}

#[test]
fn a_task_that_waits_for_a_lock_is_found_while_it_waits() {
    let watched = watched();
    let lock = Arc::new(Mutex::new(()));
    let held = lock.lock().unwrap();
    let (said, pid) = mpsc::channel();
    let waits = Arc::clone(&lock);
    let task = on_a_thread(async move {
        said.send(dyntrace::process::current()).unwrap();
        drop(waits.lock().unwrap());
    });
    let event = watched.next();
    // It waits until here.
    drop(held);
    task.join().unwrap();
    assert_eq!((event.kind, event.limit, event.process), (Kind::LongSchedule, 20_000_000, pid.recv().ok()));
    assert!(event.amount > event.limit, "{event}");
    assert!(event.function.unwrap().ends_with("found_while_it_waits"), "{event}");
    assert_eq!(event.spawned.unwrap().file(), "tests/monitor/main.rs");
    let thread = event.thread.expect("it waited until the event came");
    assert_eq!((thread.state, thread.system_call.as_deref()), (Some('S'), Some("futex")), "{thread}");
}

#[test]
fn a_task_that_spins_is_found_while_it_spins() {
    let watched = watched();
    let goes_on = Arc::new(AtomicBool::new(true));
    let spins = Arc::clone(&goes_on);
    let task = on_a_thread(async move {
        dyntrace::put_tag("busy").unwrap();
        while spins.load(Ordering::Relaxed) {
            spin_loop();
        }
    });
    let event = watched.next();
    goes_on.store(false, Ordering::Relaxed);
    task.join().unwrap();
    assert_eq!((event.kind, event.tag.as_deref()), (Kind::LongSchedule, Some("busy")));
    let thread = event.thread.expect("it span until the event came");
    assert_eq!((thread.state, thread.system_call), (Some('R'), None));
}

#[test]
fn a_task_that_sleeps_is_found_while_it_sleeps() {
    let watched = watched();
    let goes_on = Arc::new(AtomicBool::new(true));
    let sleeps = Arc::clone(&goes_on);
    let task = on_a_thread(async move {
        while sleeps.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(50));
        }
    });
    let event = watched.next();
    goes_on.store(false, Ordering::Relaxed);
    task.join().unwrap();
    // It is awake for a moment between two sleeps.
    let call = event.thread.expect("it slept until the event came").system_call;
    assert!(call.as_deref().is_none_or(|call| call == "clock_nanosleep"), "{call:?}");
}

#[test]
fn each_poll_is_told_once_also_of_one_thread() {
    let watched = watched();
    let (release, block) = mpsc::channel::<()>();
    let task = on_a_thread(async move {
        for _ in 0..3 {
            block.recv().unwrap();
            tokio::task::yield_now().await;
        }
    });
    let first = watched.next();
    // Another poll that lasts shows that the first one is not told again.
    let (_held, hold) = (release.clone(), release);
    for _ in 0..2 {
        hold.send(()).unwrap();
        let next = watched.next();
        assert_eq!((next.kind, next.process), (Kind::LongSchedule, first.process));
    }
    hold.send(()).unwrap();
    task.join().unwrap();
    assert_eq!(watched.monitor.counts().of(Kind::LongSchedule), 3);
}

#[test]
fn a_closure_for_blocking_work_may_take_its_time() {
    let watched = watched();
    let (release, block) = mpsc::channel::<()>();
    let runtime = one_thread();
    let closure = {
        let _inside = runtime.enter();
        dyntrace::spawn_blocking(move || block.recv())
    };
    // A poll that lasts begins later, and is told first.
    let (end, waits) = mpsc::channel::<()>();
    let task = on_a_thread(async move { waits.recv().unwrap() });
    let event = watched.next();
    end.send(()).unwrap();
    release.send(()).unwrap();
    task.join().unwrap();
    runtime.block_on(closure).unwrap().unwrap();
    assert!(event.function.unwrap().ends_with("may_take_its_time"), "{event}");
    assert_eq!(watched.monitor.counts().of(Kind::LongSchedule), 1);
}

#[test]
fn the_end_of_a_runtime_does_not_end_the_monitor() {
    let watched = watched();
    for _ in 0..2 {
        let (release, block) = mpsc::channel::<()>();
        let task = on_a_thread(async move { block.recv().unwrap() });
        assert_eq!(watched.next().kind, Kind::LongSchedule);
        release.send(()).unwrap();
        // With its runtime.
        task.join().unwrap();
    }
}
