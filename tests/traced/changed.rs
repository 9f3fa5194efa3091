//! Patterns of a running session that are replaced and removed.

use std::future::Future;
use std::pin::pin;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use dyntrace::trace::{Count, Error, Limits, Session};
use dyntrace::traced;

use crate::support::Watch;

#[traced]
fn observed(number: u32) -> u32 {
    number + 1
}

#[traced]
fn bake(grams: u32) -> u32 {
    grams + 1
}

#[traced]
fn pack(grams: u32) -> u32 {
    grams + 2
}

#[traced]
fn both(grams: u32) -> u32 {
    bake(pack(grams))
}

#[traced]
fn stamp(number: u64) -> u64 {
    number + 1
}

#[traced]
fn dropped(number: u32) -> u32 {
    number + 1
}

#[traced]
fn full_shelf(number: u32) -> u32 {
    number + 1
}

#[traced]
fn free_shelf(number: u32) -> u32 {
    number + 2
}

#[traced]
fn outlasts(begun: &Barrier, changed: &Barrier) {
    begun.wait();
    changed.wait();
}

#[traced]
fn never_called() {}

fn counting() -> Session {
    Session::start(Limits::default(), |_| ()).unwrap()
}

fn calls(counts: &[Count]) -> Vec<(&str, u64)> {
    counts.iter().map(|count| (count.function.name.rsplit("::").next().unwrap(), count.calls)).collect()
}

#[tokio::test]
async fn a_pattern_is_removed_and_the_others_stay() {
    let watch = Watch::with(Limits::default());
    let session = &watch.session;
    let every = session.set("**::changed::observed do return").await.unwrap();
    let heavy = session.set("**::changed::observed(number) if number > 9").await.unwrap();
    assert_ne!(every.id, heavy.id);
    observed(10);
    assert_eq!(session.remove(every.id).await.unwrap(), [], "it counts nothing");
    observed(5);
    observed(11);
    let ids: Vec<_> = session.info().patterns.iter().map(|pattern| pattern.id).collect();
    assert_eq!(ids, [heavy.id]);
    let error = session.remove(every.id).await.unwrap_err();
    assert!(matches!(error, Error::NoPattern { id } if id == every.id), "{error}");
    let again = session.set("**::changed::observed do return").await.unwrap();
    assert!(again.id != every.id && again.id.to_string().parse() == Ok(again.id));
    let lines = watch.lines().await;
    assert_eq!(lines.len(), 4, "{lines:?}");
}

#[tokio::test]
async fn a_replaced_pattern_has_its_number_and_its_counts() {
    let session = counting();
    let set = session.set("**::changed::????(grams) if grams > 100 do silent, count").await.unwrap();
    assert_eq!(set.functions, 3);
    both(100);
    both(7);
    assert_eq!(calls(&session.counts()), [("bake/1", 1), ("both/1", 0), ("pack/1", 0)]);
    let new = session.update(set.id, "**::changed::b?k*(grams) if grams > 8 do silent, count").await.unwrap();
    assert_eq!((new.id, new.functions), (set.id, 1));
    both(100);
    both(7);
    assert_eq!(calls(&session.counts()), [("bake/1", 3), ("both/1", 0), ("pack/1", 0)], "what was counted stays");
    let error = session.update(set.id, "**::changed::nowhere").await.unwrap_err();
    assert!(matches!(error, Error::NoFunction { .. }), "{error}");
    bake(9);
    assert_eq!(calls(&session.remove(set.id).await.unwrap())[0], ("bake/1", 4), "the old one stayed in force");
    bake(9);
    assert_eq!(session.counts(), []);
    let error = session.update(set.id, "**::changed::bake").await.unwrap_err();
    assert!(matches!(error, Error::NoPattern { .. }), "{error}");
}

/// Each of many calls is counted once, by the pattern that stays and by those that replace each other.
#[test]
fn no_call_is_missed_while_patterns_change() {
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let session = counting();
        let all = session.set("**::changed::stamp do silent, count").await.unwrap();
        let turns = session.set("**::changed::stamp do silent, count").await.unwrap();
        let callers = [(); 2].map(|()| {
            thread::spawn(|| (0..).take_while(|number| stamp(*number) > 0 && !IS_OVER.load(Ordering::Relaxed)).count())
        });
        for number in 0..100 {
            let other = session.set("**::changed::stamp do silent, time").await.unwrap();
            let actions = if number % 2 == 0 { "count, time" } else { "count" };
            session.update(turns.id, &format!("**::changed::stamp do silent, {actions}")).await.unwrap();
            session.remove(other.id).await.unwrap();
        }
        IS_OVER.store(true, Ordering::Relaxed);
        // `take_while` leaves out the last call of each thread, which the session counts.
        let called: usize = callers.into_iter().map(|caller| caller.join().unwrap() + 1).sum();
        for id in [turns.id, all.id] {
            assert_eq!(session.remove(id).await.unwrap()[0].calls, called as u64);
        }
        assert!(session.info().patterns.is_empty());
    });
}

/// A pattern for which some function has no room is set nowhere.
#[tokio::test]
async fn a_pattern_that_cannot_be_set_everywhere_is_set_nowhere() {
    let crowd = counting();
    for _ in 0..64 {
        crowd.set("**::changed::full_shelf do silent, count").await.unwrap();
    }
    let watch = Watch::with(Limits::default());
    let error = watch.session.set("**::changed::*_shelf").await.unwrap_err();
    assert!(matches!(error, Error::TooManyPatterns { left: 1, .. }), "{error}");
    assert!(watch.session.info().patterns.is_empty());
    assert_eq!(free_shelf(full_shelf(1)), 4);
    crowd.close().await;
    assert_eq!(watch.session.set("**::changed::*_shelf").await.unwrap().functions, 2);
    assert_eq!(watch.lines().await, [""; 0]);
}

/// The time of a call whose pattern was removed meanwhile is added to no later pattern's counter.
#[test]
fn a_call_outlasts_its_pattern() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let [begun, changed] = &[2; 2].map(Barrier::new);
    let session = counting();
    let timed = runtime.block_on(session.set("**::changed::outlasts do silent, time")).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| outlasts(begun, changed));
        begun.wait();
        let removed = runtime.block_on(session.remove(timed.id));
        // Several: other tests take counters, too.
        let set = [(); 9].map(|()| runtime.block_on(session.set("**::changed::never_called do silent, time")).is_ok());
        changed.wait();
        assert!(removed.is_ok() && set == [true; 9]);
    });
    let times: Vec<_> = session.counts().iter().map(|count| (count.calls, count.time)).collect();
    assert_eq!(times, [(0, Duration::ZERO); 9]);
}

/// If the future of a removal or a replacement is dropped at any step, the change completes in the background.
#[tokio::test]
async fn a_change_that_is_dropped_is_done_in_the_background() {
    for polls in 1..8 {
        let session = counting();
        let set = session.set("**::changed::dropped do silent, count").await.unwrap();
        poll(session.update(set.id, "**::changed::dropped(number) if number > 5 do silent, count"), polls);
        in_the_end(|| {
            session.reset();
            dropped(1);
            dropped(6);
            session.counts()[0].calls == 1
        });
        poll(session.remove(set.id), polls);
        assert_eq!(session.counts(), []);
        // The session's own list must be empty, too: a forgotten pattern would stay in force.
        in_the_end(|| session.info().patterns.is_empty());
        assert!(matches!(session.remove(set.id).await, Err(Error::NoPattern { .. })));
    }
}

fn poll(future: impl Future, polls: usize) {
    let mut future = pin!(future);
    for _ in 0..polls {
        if future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            return;
        }
    }
}

fn in_the_end(mut condition: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !condition() {
        assert!(begun.elapsed().as_secs() < 20, "it does not come");
        thread::yield_now();
    }
}
