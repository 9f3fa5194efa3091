//! Futures that a future written by hand keeps, and that wake no task: it has not polled them yet, or they have returned.

use crate::future::{Value, Walk};
use crate::listing::State;

/// Bits of a `oneshot` channel's state.
const RECEIVER_WAKER: u64 = 1;

/// Whether a primitive wakes no task. `false` for those of which nothing says it.
pub(crate) fn is_quiet(walk: &Walk<'_, '_>, value: &Value) -> bool {
    let quiet = match value.kind.bare() {
        "tokio::runtime::task::join::JoinHandle" => join_handle(walk, value),
        "tokio::sync::notify::Notified" | "tokio::sync::notify::OwnedNotified" => notified(walk, value),
        "tokio::sync::oneshot::Receiver" => receiver(walk, value),
        "tokio::time::sleep::Sleep" => sleep(walk, value),
        _ => None,
    };
    quiet == Some(true)
}

fn number(walk: &Walk<'_, '_>, value: &Value, steps: &[&str]) -> Option<u64> {
    let steady = &walk.steady;
    steady.follow(value, steps).and_then(|value| steady.number(&value))
}

fn join_handle(walk: &Walk<'_, '_>, handle: &Value) -> Option<bool> {
    let header = number(walk, handle, &["raw", "ptr", "pointer"])?;
    let state = State::of(walk.live.memory.word(header).ok()?);
    Some(!state.join_waker && !state.complete)
}

/// A notification takes the waker out.
fn notified(walk: &Walk<'_, '_>, notified: &Value) -> Option<bool> {
    let waker = walk.steady.follow(notified, &["waiter", "waker", "__0", "value"])?;
    Some(walk.steady.variant(&waker)?.0 == "None")
}

fn receiver(walk: &Walk<'_, '_>, receiver: &Value) -> Option<bool> {
    let inner = walk.steady.field(receiver, "inner")?;
    if walk.steady.variant(&inner)?.0 == "None" {
        return Some(true);
    }
    // the sender changes it
    let live = &walk.live;
    let state =
        walk.steady.follow(&inner, &["?", "arc"]).and_then(|channel| live.follow(&channel, &["state", "only"]))?;
    Some(live.number(&state)? & RECEIVER_WAKER == 0)
}

/// The fields of each version in which a timer's first poll notes that it registers it: a flag up to tokio 1.51 (the second in 1.49 to
/// 1.51), or an `Option` of what it registers (the first since 1.52, the second with `enable_alt_timer` before it).
const REGISTERED: [&[&str]; 2] = [&["entry", "registered"], &["entry", "=", "registered"]];
const REGISTRATION: [&[&str]; 2] = [&["timer"], &["entry", "=", "entry"]];

fn sleep(walk: &Walk<'_, '_>, sleep: &Value) -> Option<bool> {
    let steady = &walk.steady;
    match REGISTERED.iter().find_map(|steps| number(walk, sleep, steps)) {
        Some(registered) => Some(registered == 0),
        None => {
            let registration = REGISTRATION.iter().find_map(|steps| steady.follow(sleep, steps))?;
            Some(steady.variant(&registration)?.0 == "None")
        }
    }
}
