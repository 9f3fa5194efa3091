//! Functions that call themselves, deeply: what tracing adds to the stack.

use std::cell::Cell;
use std::hint::black_box;
use std::panic::catch_unwind;
use std::ptr;
use std::thread;

use dyntrace::trace::{Kind, Limits, Session};
use dyntrace::traced;

use crate::support::Watch;

/// The most calls on a thread whose end is waited for, as the documentation says.
const MOST: usize = 512;

thread_local! {
    /// The lowest address of the stack that `measured` has seen.
    static LOWEST: Cell<usize> = const { Cell::new(usize::MAX) };
}

#[traced]
fn measured(depth: usize) -> usize {
    let here = 0_u8;
    LOWEST.set(LOWEST.get().min(ptr::from_ref(black_box(&here)).addr()));
    if depth == 0 { 0 } else { black_box(measured(depth - 1)) + 1 }
}

#[traced]
fn told(depth: usize) -> usize {
    if depth == 0 { 0 } else { black_box(told(depth - 1)) + 1 }
}

#[traced]
fn timed(depth: usize) -> usize {
    if depth == 0 { 0 } else { black_box(timed(depth - 1)) + 1 }
}

#[traced]
fn failing(depth: usize) -> usize {
    assert_ne!(depth, 0, "deep enough");
    black_box(failing(depth - 1)) + 1
}

/// Returns the bytes of the stack that a call of `measured` takes for each call inside it.
fn bytes_of_a_call() -> usize {
    const DEPTH: usize = 100;
    let lowest = |depth| {
        measured(depth);
        LOWEST.replace(usize::MAX)
    };
    (lowest(1) - lowest(1 + DEPTH)) / DEPTH
}

async fn bytes_under(session: &Session, actions: &str) -> usize {
    let set = session.set(&format!("**::deep::measured do {actions}")).await.unwrap();
    let bytes = bytes_of_a_call();
    session.remove(set.id).await.unwrap();
    bytes
}

/// A call that is only told takes hardly more of the stack than one that is only counted, and none where the compiler makes last calls.
#[tokio::test]
async fn a_call_that_is_told_has_no_frame() {
    let to_tracer = Session::start(Limits::default(), |_| ()).unwrap();
    let to_probes = Session::to_probes(Limits::default()).unwrap();
    let counted = bytes_under(&to_tracer, "silent, count").await;
    // Debug builds make no last calls.
    let most = counted + if cfg!(debug_assertions) { 160 } else { 0 };
    let told = [
        bytes_under(&to_tracer, "message").await,
        bytes_under(&to_tracer, "message, count, caller").await,
        bytes_under(&to_probes, "message").await,
    ];
    assert!(told.iter().all(|bytes| *bytes <= most), "{told:?}, counted {counted}");
    let ended = [bytes_under(&to_tracer, "silent, time").await, bytes_under(&to_tracer, "return").await];
    assert!(ended.iter().all(|bytes| *bytes > counted), "{ended:?}");
    println!("bytes: counted {counted}, told {told:?}, timed and returned {ended:?}");
}

#[tokio::test]
async fn deep_calls_are_told_without_their_ends() {
    const DEPTH: usize = 2000;
    let limits = || {
        let mut limits = Limits::default();
        limits.waiting = 10_000;
        limits
    };
    let watch = Watch::with(limits());
    watch.session.set("**::deep::told do return").await.unwrap();
    watch.session.set("**::deep::failing do exception").await.unwrap();
    let deep = thread::Builder::new().stack_size(16 << 20);
    let calls = || {
        assert_eq!(told(DEPTH - 1), DEPTH - 1);
        assert!(catch_unwind(|| failing(DEPTH - 1)).is_err());
        assert_eq!(told(DEPTH - 1), DEPTH - 1);
    };
    deep.spawn(calls).unwrap().join().unwrap();
    let (events, info) = watch.end().await;
    let number = |kind| events.iter().filter(|event| event.kind == kind).count();
    let numbers = [Kind::Call, Kind::Return, Kind::Panic].map(number);
    assert_eq!((numbers, info.dropped), ([3 * DEPTH, 2 * MOST, MOST], 0));
    assert_eq!(info.unended, 3 * (DEPTH - MOST) as u64);
    // The outer calls have ends.
    let last = events.last().unwrap();
    assert_eq!((last.kind, &*last.text), (Kind::Return, "1999"));
}

#[tokio::test]
async fn deep_calls_are_counted_without_their_time() {
    let session = Session::start(Limits::default(), |_| ()).unwrap();
    session.set("**::deep::timed do silent, time").await.unwrap();
    let deep = thread::Builder::new().stack_size(16 << 20);
    deep.spawn(|| [(); 2].map(|()| timed(999))).unwrap().join().unwrap();
    let count = session.counts()[0];
    assert_eq!(count.calls, 2000);
    assert!(count.own_time <= count.time);
    assert_eq!(session.info().unended, 2000 - 2 * MOST as u64);
}
