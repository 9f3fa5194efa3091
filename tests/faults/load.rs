//! Threads that come and go.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use dyntrace::recorder::Session;

use crate::support::{alone, fire, options, read, read_by_babeltrace, stop, times};

const EVENTS: usize = 10;

#[test]
#[cfg_attr(dyntrace_portable, ignore = "nobody is told there that a thread has ended")]
fn threads_come_and_go_at_1_khz() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let session = Session::start(options(directory.path(), ",size=1M")).unwrap();
    let threads = times(500, 5_000);
    let begun = Instant::now();
    let mut running = Vec::new();
    for number in 1..=threads {
        running.push(thread::spawn(move || (1..=EVENTS as i32).for_each(|event| fire(number as i32, event))));
        if running.len() == 8 {
            running.drain(..).for_each(|thread| thread.join().unwrap());
        }
        thread::sleep(Duration::from_millis(number as u64).saturating_sub(begun.elapsed()));
    }
    running.into_iter().for_each(|thread| thread.join().unwrap());
    let summary = stop(session);
    read_by_babeltrace(directory.path());
    let lines = read(directory.path());
    let found: usize = lines.values().map(Vec::len).sum();
    assert_eq!(found + summary.status.discarded as usize, threads * EVENTS, "what is lost is counted");
    for numbers in lines.values() {
        let once: BTreeSet<_> = numbers.iter().collect();
        assert!(once.len() == numbers.len() && numbers.is_sorted(), "{numbers:?}");
    }
    assert!(summary.status.rings < 200, "{} rings for 8 threads at once", summary.status.rings);
    assert!(summary.status.discarded as usize <= threads * EVENTS / 100, "{} lost", summary.status.discarded);
}

#[test]
#[cfg_attr(dyntrace_portable, ignore = "the recorder does not know there how many threads there are")]
fn threads_that_were_there_before_lose_nothing() {
    const THREADS: usize = 200;
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let all = Barrier::new(THREADS + 1);
    let summary = thread::scope(|scope| {
        for number in 1..=THREADS as i32 {
            let all = &all;
            scope.spawn(move || {
                all.wait();
                all.wait();
                (1..=EVENTS as i32).for_each(|event| fire(number, event));
                all.wait();
            });
        }
        all.wait();
        let session = Session::start(options(directory.path(), ",size=1M")).unwrap();
        all.wait();
        all.wait();
        stop(session)
    });
    assert_eq!(summary.status.discarded, 0);
    let lines = read(directory.path());
    assert_eq!((lines.len(), lines.values().map(Vec::len).sum()), (THREADS, THREADS * EVENTS));
}
