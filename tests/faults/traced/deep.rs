//! Calls in calls.

use std::hint::black_box;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use dyntrace::traced;

use super::{Watch, calls, counting};

const LEVELS: u32 = 100_000;
/// A generous limit of the stack of one level.
const ROOM: usize = 4096;

/// The stack address of the lowest level.
static LOWEST: AtomicUsize = AtomicUsize::new(0);

#[inline(never)]
fn place_on_stack() -> usize {
    let here = 0u8;
    black_box(&raw const here).addr()
}

#[traced]
fn deep(level: u32) -> u32 {
    if level == 0 {
        LOWEST.store(place_on_stack(), Ordering::Relaxed);
        return 0;
    }
    1 + black_box(deep(level - 1))
}

#[traced]
fn falls(level: u32) -> u32 {
    assert_ne!(level, 0, "that was the last level");
    1 + black_box(falls(level - 1))
}

/// Runs it on a stack with room for this number of levels.
fn with_room<R: Send + 'static>(run: impl FnOnce() -> R + Send + 'static) -> R {
    let stack = thread::Builder::new().stack_size((LEVELS as usize + 100) * ROOM);
    stack.spawn(run).unwrap().join().unwrap()
}

/// Returns the stack bytes of one level.
fn descend() -> usize {
    with_room(|| {
        let highest = place_on_stack();
        assert_eq!(deep(LEVELS), LEVELS);
        (highest - LOWEST.load(Ordering::Relaxed)) / LEVELS as usize
    })
}

#[tokio::test]
async fn functions_call_themselves_100_000_deep() {
    let untraced = descend();
    println!("one level takes {untraced} bytes of the stack");
    for actions in ["silent, count", "silent, time", "return", "silent, return, exception, count, time"] {
        let session = counting(&format!("**::deep::deep do {actions}")).await;
        let traced = descend();
        println!("{} more with {actions}", traced - untraced);
        let counted = if actions.contains("count") || actions.contains("time") { u64::from(LEVELS) + 1 } else { 0 };
        assert_eq!(calls(&session), counted);
        let info = session.close().await;
        // Only so many calls wait for their ends.
        let ended = if actions.contains("return") || actions == "silent, time" { 512 } else { 0 };
        let called = if actions == "return" { u64::from(LEVELS) + 1 } else { 0 };
        let returned = if actions.contains("return") { ended } else { 0 };
        assert_eq!(info.delivered + info.dropped, called + returned, "{actions}");
        assert_eq!(info.unended, if ended > 0 { u64::from(LEVELS) + 1 - ended } else { 0 }, "{actions}");
    }
}

#[tokio::test]
async fn panics_come_up_from_there() {
    let watch = Watch::on("**::deep::falls(level) if level % 1000 == 0 do silent, exception").await;
    let payload = with_room(|| catch_unwind(|| falls(LEVELS)).unwrap_err());
    assert!(payload.downcast_ref::<String>().unwrap().ends_with("that was the last level\n  left: 0\n right: 0"));
    let (events, info) = watch.end().await;
    assert_eq!((events.len(), info.dropped), (LEVELS as usize / 1000 + 1, 0));
}
