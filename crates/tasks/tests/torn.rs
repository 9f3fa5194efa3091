//! Chains of two tasks that hand a token over as fast as they can are true or busy, never a mixture of two states.
//!
//! `DYNTRACE_TORN_READS` is a number of readings instead of the usual two seconds.

mod program;

use std::time::{Duration, Instant};

use dyntrace_tasks::listing::{Await, Chain, Progress, WaitsFor};
use program::{Program, show, with_reader};

const SOURCE: &str = include_str!("../examples/chains_token.rs");

/// The turn at which a future waits, by the comment at its line.
fn turn(shown: &Await) -> Option<char> {
    let line = SOURCE.lines().nth(shown.place.as_ref()?.line as usize - 1)?;
    line.split_once("// turn ")?.1.chars().next()
}

fn is_whole(root: &Await) -> bool {
    let [inner] = &root.awaits[..] else { return false };
    match inner.progress {
        // polled for the first time, or again after its end
        Progress::Unresumed | Progress::Returned => true,
        Progress::Suspended => {
            let [leaf] = &inner.awaits[..] else { return false };
            turn(root).is_some() && turn(root) == turn(inner) && matches!(leaf.waits_for, Some(WaitsFor::Notify { .. }))
        }
        // the task runs
        Progress::Unknown => &*inner.future == "chains_token::inner" && inner.awaits.is_empty(),
        Progress::Panicked => false,
    }
}

#[test]
fn no_chain_is_torn() {
    let program = Program::run("chains_token");
    let (mut whole, mut busy) = (0_u64, 0_u64);
    with_reader(&program, |_, chain| {
        let begin = Instant::now();
        let asked = std::env::var("DYNTRACE_TORN_READS").ok().map(|reads| reads.parse::<u64>().unwrap());
        let goes_on = |read: u64| asked.map_or(begin.elapsed() < Duration::from_secs(2), |asked| read < asked);
        while goes_on(whole + busy) {
            for header in program.tasks.values() {
                match chain(*header) {
                    Chain::Read { root } => {
                        assert!(is_whole(&root), "a torn chain:\n{}", show(&root, 0));
                        whole += 1;
                    }
                    Chain::Busy => busy += 1,
                    other => panic!("the task has a future: {other:?}"),
                }
            }
        }
    });
    println!("{whole} whole chains, {busy} busy");
    assert!(whole > 0);
}
