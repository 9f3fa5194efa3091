//! Many sessions, and patterns of maximum size and cost.

use std::collections::VecDeque;

use dyntrace::trace::{Limits, Session};
use dyntrace::traced;

use super::{Watch, calls, counting, tracers};
use crate::support::{alone, inside_of, run, times};

#[traced]
fn of_many(number: u32) -> u32 {
    number + 1
}

/// In a program of its own, as it counts threads.
#[test]
fn a_thousand_sessions_opened_and_dropped() {
    if inside_of().is_none() {
        let _alone = alone();
        let place = tempfile::tempdir().unwrap();
        return run("traced::sessions::a_thousand_sessions_opened_and_dropped", place.path(), &[]);
    }
    let sessions = times(1_000, 20_000) as u32;
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let all = counting("**::sessions::of_many do silent, count").await;
        let mut open = VecDeque::new();
        for number in 0..sessions {
            open.push_back(counting("**::sessions::of_many do return, count").await);
            assert_eq!(of_many(number), number + 1);
            // With undelivered events.
            if open.len() == 32 {
                open.pop_front();
            }
        }
        drop(open);
        assert_eq!(calls(&all), u64::from(sessions));
        drop(all);
        // All at once, without events.
        let idle: Vec<_> = (0..1_000).map(|_| Session::start(Limits::default(), |_| ()).unwrap()).collect();
        drop(idle);
        // A tracer's thread ends when no breakpoint has its session.
        while tracers() > 0 {
            tokio::task::yield_now().await;
        }
        let watch = Watch::on("**::sessions::of_many").await;
        of_many(7);
        assert_eq!(watch.end().await.0.len(), 1);
    });
}

#[traced]
fn hostile(text: &str) -> usize {
    text.len()
}

/// Returns a pattern with each part at its limit.
#[tokio::test]
async fn patterns_of_64_kib() {
    const LONGEST: usize = 64 << 10;
    let name = "traced::sessions::hostile";
    let stars = "**::".repeat(LONGEST / 4 - 10) + "hostile";
    let guard = format!("**::{name}(text) if text == \"a\"{}", " || text == \"a\"".repeat(500));
    let literal = format!("**::{name}(text) if contains(text, \"{}\")", "a".repeat(LONGEST - 100));
    let spaces = format!("{}**::{name}", " ".repeat(LONGEST - 100));
    let watch = Watch::on(&stars).await;
    for pattern in [guard, literal, spaces] {
        assert_eq!(watch.session.set(&pattern).await.unwrap().functions, 1, "{}", &pattern[..40]);
    }
    let text = "a".repeat(LONGEST) + "b";
    for _ in 0..100 {
        assert_eq!(hostile(&text), LONGEST + 1);
    }
    // One guard is false, and the other one reads more text than its limit.
    assert_eq!(watch.end().await.1.delivered, 200);
}

#[tokio::test]
async fn patterns_that_are_refused() {
    let session = Session::start(Limits::default(), |_| ()).unwrap();
    let globs = ["*a".repeat(30_000), "**::*a*::".repeat(7_000) + "b", "?".repeat(60_000), "a::".repeat(20_000) + "b"];
    let nested = "**::f(x) if ".to_owned() + &"(".repeat(60_000);
    let variants = format!("**::f({}x{})", "Some(".repeat(9_000), ")".repeat(9_000));
    let strings = ["a".repeat(70_000), "\0".repeat(60_000), "**::f(\"".to_owned() + &"\\".repeat(60_000)];
    for pattern in globs.into_iter().chain([nested, variants]).chain(strings) {
        session.set(&pattern).await.unwrap_err();
    }
    assert!(session.info().patterns.is_empty());
}
