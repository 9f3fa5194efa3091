//! Who called, as the stack says.

use std::panic::Location;

use dyntrace::trace::{Address, Caller, Event, Kind};
use dyntrace::traced;

use crate::support::Watch;

#[traced]
#[inline(never)]
fn priced(number: u32) -> u32 {
    number * 2
}

#[inline(never)]
fn shop(number: u32) -> u32 {
    priced(number) + 1
}

#[inline(never)]
fn bank(number: u32) -> u32 {
    priced(number) - 1
}

/// Whether the address is in the function that begins there. None here is long.
#[track_caller]
fn assert_is_in(address: usize, function: fn(u32) -> u32) {
    let begin = function as usize;
    assert!((begin..begin + 1000).contains(&address), "{address:#x} {begin:#x}");
}

#[track_caller]
fn address(event: &Event) -> Address {
    match event.caller {
        Some(Caller::Address(address)) => address,
        other => panic!("{event} comes from {other:?}"),
    }
}

#[cfg(not(target_arch = "arm"))]
#[tokio::test]
async fn callers_are_found_on_the_stack() {
    let watch = Watch::on("**::callers::priced do caller, return, return_to").await;
    assert_eq!((shop(1), bank(2)), (3, 3));
    let (events, _) = watch.end().await;
    let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [Kind::Call, Kind::Return, Kind::ReturnTo, Kind::Call, Kind::Return, Kind::ReturnTo]);
    for (events, function) in events.chunks(3).zip([shop, bank]) {
        for event in [&events[0], &events[2]] {
            assert_is_in(address(event).inside, priced);
            assert_is_in(address(event).returns_to, function);
        }
        assert!(events[1].caller.is_none());
        assert_eq!(address(&events[0]).returns_to, address(&events[2]).returns_to);
    }
    let shown = events[2].to_string();
    assert!(shown.starts_with("return_to traced::callers::priced  to ") && shown.contains(" through "), "{shown}");
}

#[traced]
#[inline(never)]
fn deep(level: u32) -> u32 {
    if level == 0 { 0 } else { deep(level - 1) + 1 }
}

/// However deep the stack is, and though all that is in between is of calls that are being told, too.
#[cfg(not(target_arch = "arm"))]
#[tokio::test]
async fn callers_that_are_traced_themselves() {
    let watch = Watch::on("**::callers::deep(level) if level != 100 do caller").await;
    assert_eq!(deep(100), 100);
    let (events, _) = watch.end().await;
    assert_eq!(events.len(), 100);
    let from: Vec<_> = events.iter().map(|event| address(event).returns_to).collect();
    assert!(from[1..].iter().all(|address| *address == from[0]), "{from:x?}");
}

#[traced(caller)]
#[inline(never)]
fn tracked(number: u32) -> u32 {
    Location::caller().line() + number
}

#[inline(never)]
fn through_pointer(number: u32) -> u32 {
    let pointer: fn(u32) -> u32 = std::hint::black_box(tracked);
    pointer(number) + 1
}

/// What a function is told that is called through a pointer is where it is written.
#[cfg(not(target_arch = "arm"))]
#[tokio::test]
async fn callers_through_pointers() {
    let watch = Watch::on("**::callers::tracked do caller, return_to").await;
    let line = line!() + 1;
    tracked(1);
    through_pointer(2);
    let (events, _) = watch.end().await;
    assert_eq!(events[1].to_string().split("  ").nth(1).unwrap(), format!("to {}:{line}", file!()));
    // Through what the compiler makes for the pointer.
    assert!(matches!(events[2].caller, Some(Caller::Address(_))), "{}", events[2]);
}

#[traced]
async fn polled(number: u32) -> u32 {
    number
}

#[tokio::test]
async fn whoever_polls_is_no_caller() {
    let watch = Watch::on("**::callers::polled do caller, return_to").await;
    polled(1).await;
    assert_eq!(watch.lines().await, ["call   callers::polled(1)", "return_to callers::polled"]);
}

#[traced]
fn fails(number: u32) -> u32 {
    panic!("{number}")
}

#[tokio::test]
async fn what_panics_returns_to_nobody() {
    let watch = Watch::on("**::callers::fails do silent, return_to, exception").await;
    std::panic::catch_unwind(|| fails(3)).unwrap_err();
    assert_eq!(watch.lines().await, ["panic  callers::fails: 3"]);
}
