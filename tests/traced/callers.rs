//! Callers of traced functions, found by unwinding the stack.

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

/// Checks that the address is in `function`. All functions here are shorter than 1000 bytes.
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
fn weighed(number: u32) -> u32 {
    number * 2
}

#[inline(never)]
fn scale(number: u32) -> u32 {
    weighed(number) + 1
}

#[inline(never)]
fn lift(number: u32) -> u32 {
    weighed(number) - 1
}

/// How many callers the stack of each event has, and where the first one is.
#[cfg(not(target_arch = "arm"))]
fn stacks(events: &[Event]) -> Vec<(usize, usize)> {
    let stacks = events.iter().map(|event| event.stack.as_ref().unwrap_or_else(|| panic!("{event} has no stack")));
    stacks.map(|stack| (stack.addresses().len() - 1, stack.addresses()[1])).collect()
}

#[cfg(not(target_arch = "arm"))]
#[tokio::test]
async fn stacks_are_as_deep_as_the_pattern_says() {
    let watch =
        Watch::on("**::callers::weighed(number) if number > 3 && number < 10 do current_stacktrace, caller, return")
            .await;
    watch.session.set("**::callers::weighed(number) if number < 10 do current_stacktrace(2)").await.unwrap();
    watch.session.set("**::callers::weighed(number) if number < 10 do current_stacktrace(32)").await.unwrap();
    watch.session.set("**::callers::weighed(number) if number < 10 do caller").await.unwrap();
    assert_eq!((scale(1), lift(5)), (3, 9));
    let (events, _) = watch.end().await;
    let (calls, ends): (Vec<_>, Vec<_>) = events.into_iter().partition(|event| event.kind == Kind::Call);
    assert!(ends[0].stack.is_none() && ends.len() == 1);
    assert!([2, 6].iter().all(|number: &usize| calls[*number].stack.is_none()), "{calls:?}");
    let [shallow, deep] = [&calls[0..2], &calls[3..6]];
    for (stacks, depths, function) in
        [(stacks(shallow), &[2, 32][..], scale as fn(u32) -> u32), (stacks(deep), &[8, 2, 32][..], lift)]
    {
        for ((callers, first), most) in stacks.iter().zip(depths) {
            assert_is_in(*first, function);
            assert!(callers <= most && *callers >= 2, "{callers} of {most}");
        }
        assert!(stacks.iter().zip(depths).all(|((callers, _), most)| *most > 8 || callers == most), "{stacks:?}");
    }
    // The other data of the call are the same.
    let stack = deep[0].stack.as_ref().unwrap();
    assert_eq!(stack.addresses()[..2], [address(&deep[0]).inside, address(&deep[0]).returns_to]);
    let shown = stack.to_string();
    assert_eq!((shown.lines().count(), shown.matches("+0x").count() > 1), (9, cfg!(target_os = "linux")), "{shown}");
}

/// A thread's stack ends with the thread's first function.
#[cfg(not(target_arch = "arm"))]
#[tokio::test]
async fn stacks_end() {
    let watch = Watch::on("**::callers::weighed(number) if number == 77 do current_stacktrace(32)").await;
    std::thread::spawn(|| scale(77)).join().unwrap();
    let (events, _) = watch.end().await;
    let [(callers, first)] = stacks(&events)[..] else { panic!("{events:?}") };
    assert!(callers > 2 && callers < 32, "{callers}");
    assert_is_in(first, scale);
}

#[traced]
#[inline(never)]
fn deep(level: u32) -> u32 {
    if level == 0 { 0 } else { deep(level - 1) + 1 }
}

/// At any depth, even if all frames in between are of traced calls.
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

#[traced]
#[inline(never)]
fn deeper(level: u32) -> u32 {
    if level == 0 { 0 } else { deeper(level - 1) + 1 }
}

/// Each of their frames, and each frame in between, is one of the callers.
#[cfg(not(target_arch = "arm"))]
#[tokio::test]
async fn stacks_of_functions_that_call_themselves() {
    let watch = Watch::on("**::callers::deeper do current_stacktrace(32)").await;
    assert_eq!(deeper(100), 100);
    let (events, _) = watch.end().await;
    let all = stacks(&events);
    assert_eq!(all.len(), 101);
    assert!(all[50..].iter().all(|stack| *stack == (32, all[50].1)), "{all:x?}");
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

/// Through a pointer, `Location::caller()` would be the function's own line: so the event shows the caller's address.
#[cfg(not(target_arch = "arm"))]
#[tokio::test]
async fn callers_through_pointers() {
    let watch = Watch::on("**::callers::tracked do caller, return_to").await;
    let line = line!() + 1;
    tracked(1);
    through_pointer(2);
    watch.session.set("**::callers::tracked do current_stacktrace(1)").await.unwrap();
    let known = tracked as fn(u32) -> u32;
    std::hint::black_box(known)(3);
    tracked(4);
    let (mut events, _) = watch.end().await;
    let with_stack: Vec<Event> = events.extract_if(.., |event| event.stack.is_some()).collect();
    assert!(stacks(&with_stack).iter().all(|(callers, _)| *callers == 1) && with_stack.len() == 2, "{with_stack:?}");
    assert_eq!(events[1].to_string().split("  ").nth(1).unwrap(), format!("to {}:{line}", file!()));
    // The caller is the shim that the compiler makes for the pointer.
    assert!(matches!(events[2].caller, Some(Caller::Address(_))), "{}", events[2]);
}

#[traced]
async fn polled(number: u32) -> u32 {
    number
}

#[tokio::test]
async fn a_poller_is_no_caller() {
    let watch = Watch::on("**::callers::polled(number) if number < 6 do caller, return_to").await;
    polled(1).await;
    assert_eq!(watch.lines().await, ["call   callers::polled(1)", "return_to callers::polled"]);
}

async fn polls(number: u32) -> u32 {
    polled(number).await
}

/// The stack of an asynchronous function is a stack of polls.
#[cfg(not(target_arch = "arm"))]
#[tokio::test]
async fn stacks_of_asynchronous_functions() {
    let watch = Watch::on("**::callers::polled(number) if number > 6 do current_stacktrace(4), return").await;
    assert_eq!(polls(7).await, 7);
    tokio::spawn(polls(8)).await.unwrap();
    let (events, _) = watch.end().await;
    let calls: Vec<Event> = events.into_iter().filter(|event| event.kind == Kind::Call).collect();
    assert!(stacks(&calls).iter().all(|(callers, _)| *callers == 4) && calls.len() == 2, "{calls:?}");
    // The same code polls both, and different code polls that.
    let [one, other] = [&calls[0], &calls[1]].map(|event| event.stack.as_ref().unwrap().addresses());
    assert!(one[..3] == other[..3] && one != other, "{one:x?} {other:x?}");
}

#[traced]
fn fails(number: u32) -> u32 {
    panic!("{number}")
}

#[tokio::test]
async fn a_panic_has_no_return_to() {
    let watch = Watch::on("**::callers::fails do silent, return_to, exception").await;
    std::panic::catch_unwind(|| fails(3)).unwrap_err();
    assert_eq!(watch.lines().await, ["panic  callers::fails: 3"]);
}

struct Harbour;

#[traced]
impl Harbour {
    #[cfg_attr(all(), track_caller)]
    fn place_of_call(&self) -> &'static Location<'static> {
        Location::caller()
    }

    #[cfg_attr(any(), track_caller)]
    fn own_place(&self) -> &'static Location<'static> {
        Location::caller()
    }
}

#[tokio::test]
async fn callers_are_tracked_where_the_configuration_says_so() {
    let watch = Watch::on("**::Harbour::place_of_call do caller").await;
    let seen = Harbour.place_of_call();
    assert_eq!(seen.line(), line!() - 1);
    let (events, _) = watch.end().await;
    assert!(matches!(events[0].caller, Some(Caller::Location(caller)) if caller == seen), "{events:?}");

    let watch = Watch::on("**::Harbour::own_place do caller").await;
    let seen = Harbour.own_place();
    assert!(seen.line() < line!() - 10, "{seen}");
    let (events, _) = watch.end().await;
    assert!(!matches!(events[0].caller, Some(Caller::Location(_))), "{events:?}");
}
