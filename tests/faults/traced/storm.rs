//! Settings that change at full speed, while threads call their functions.

use std::collections::BTreeMap;
use std::future::Future;
use std::ops::Range;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use dyntrace::process::Pid;
use dyntrace::trace::{Event, Info, Kind, Limits, Session};
use dyntrace::traced;

use super::{Watch, calls, counting};
use crate::support::{alone, times};

const THREADS: usize = 4;
const PATTERN: &str = "**::storm::bought";

#[traced]
fn bought(_thread: usize, number: u64) -> u64 {
    number * 2
}

/// The numbers of started and ended calls of a thread.
#[derive(Default)]
struct Line {
    begun: AtomicU64,
    ended: AtomicU64,
}

static LINES: [Line; THREADS] = [const { Line { begun: AtomicU64::new(0), ended: AtomicU64::new(0) } }; THREADS];
static STOP: AtomicBool = AtomicBool::new(false);

fn call(thread: usize) {
    let line = &LINES[thread];
    for number in (1..).take_while(|_| !STOP.load(Ordering::Relaxed)) {
        line.begun.store(number, Ordering::SeqCst);
        assert_eq!(bought(thread, number), number * 2);
        line.ended.store(number, Ordering::SeqCst);
    }
}

/// Returns the numbers of ended and started calls so far.
fn so_far() -> Range<u64> {
    let ended = LINES.iter().map(|line| line.ended.load(Ordering::SeqCst)).sum();
    ended..LINES.iter().map(|line| line.begun.load(Ordering::SeqCst)).sum()
}

#[test]
fn settings_come_and_go_at_full_speed() {
    let _alone = alone();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let all = runtime.block_on(counting(&format!("{PATTERN} do silent, count")));
    let threads: Vec<_> = (0..THREADS).map(|thread| thread::spawn(move || call(thread))).collect();
    let until = Instant::now() + Duration::from_secs(times(1, 60) as u64);
    let setters = [runtime.spawn(told(until)), runtime.spawn(counted(until)), runtime.spawn(dropped(until))];
    let settings = setters.map(|setter| runtime.block_on(setter).unwrap());
    STOP.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let called = so_far();
    assert_eq!((calls(&all), called.start), (called.end, called.end), "all of them were counted");
    println!("{} calls, and these settings: {settings:?}", called.end);
    assert!(settings.iter().all(|settings| *settings > 0));
    runtime.block_on(all.close());
}

/// Runs sessions and checks their events. Returns the number of sessions.
async fn told(until: Instant) -> usize {
    let mut sessions = 0;
    while Instant::now() < until {
        let watch = Watch::on(&format!("{PATTERN} do return")).await;
        let (events, info) = watch.end().await;
        check(&events, &info);
        sessions += 1;
    }
    sessions
}

/// Checks that each event is complete and in order. If none was dropped, each call has its end except for the last of a thread.
fn check(events: &[Event], info: &Info) {
    let mut lines: BTreeMap<Pid, Vec<(Kind, u64)>> = BTreeMap::new();
    let mut threads: BTreeMap<Pid, &str> = BTreeMap::new();
    for event in events {
        assert!(event.function.path().ends_with("::storm::bought") && !event.text.is_cut());
        let number = match event.kind {
            Kind::Call => {
                let (thread, number) = event.text.split_once(", ").unwrap();
                assert_eq!(*threads.entry(event.process).or_insert(thread), thread);
                number.parse().unwrap()
            }
            _ => event.text.parse::<u64>().unwrap() / 2,
        };
        lines.entry(event.process).or_default().push((event.kind, number));
    }
    for line in lines.values() {
        assert!(line.is_sorted_by_key(|(_, number)| *number), "{line:?}");
        if info.dropped == 0 {
            for pair in line.chunks(2) {
                let number = pair[0].1;
                let whole = [(Kind::Call, number), (Kind::Return, number)];
                assert!(whole.starts_with(pair), "{pair:?} of {line:?}");
            }
        }
    }
}

/// Runs counting sessions: at least the calls that started after the pattern was set and ended before the counts are read.
async fn counted(until: Instant) -> usize {
    let mut sessions = 0;
    while Instant::now() < until {
        let before = so_far();
        let session = counting(&format!("{PATTERN} do silent, count, time")).await;
        let set = so_far();
        tokio::task::yield_now().await;
        let read = so_far();
        let counted = calls(&session);
        let after = so_far();
        let possible = read.start.saturating_sub(set.end)..=after.end - before.start;
        assert!(possible.contains(&counted), "{counted} of {possible:?}");
        drop(session);
        sessions += 1;
    }
    sessions
}

/// Drops settings at any point of their waits, and their sessions. Returns the number of dropped settings.
async fn dropped(until: Instant) -> usize {
    let mut settings = 0;
    for polls in (0..12).cycle().take_while(|_| Instant::now() < until) {
        let session = Session::start(Limits::default(), |_| ()).unwrap();
        match polled(session.set(PATTERN), polls).await {
            Some(set) => assert_eq!(set.unwrap().functions, 1),
            None => settings += 1,
        }
        // Its removal is also dropped.
        if polled(session.close(), polls).await.is_none() {
            settings += 1;
        }
    }
    settings
}

/// Polls a future when it is woken, at most `polls` times, and returns its output; `None` if it is still pending then.
async fn polled<F: Future>(future: F, polls: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut polls = 0..polls;
    std::future::poll_fn(|cx| match polls.next() {
        None => Poll::Ready(None),
        Some(_) => future.as_mut().poll(cx).map(Some),
    })
    .await
}
