//! One function among many.

use std::hint::black_box;

use serde_json::{Value, json};

use crate::machine::{Other, barrier, beside, median, runtime, settle, time};
use crate::{callable, session};

/// `named` is the time to set a pattern with a full name; `found` that of a pattern with a wildcard.
pub fn measure(other: Other, rounds: usize) -> Value {
    let runtime = runtime();
    // The first setting of a program also sorts the names.
    let (first, first_session) = time(|| {
        let session = session();
        runtime.block_on(session.set("settings::callable")).expect("there is such a function");
        session
    });
    runtime.block_on(first_session.close());
    let [mut barriers, mut named, mut found, mut removed] = [const { Vec::new() }; 4];
    beside(other, |await_a_turn| {
        for _ in 0..rounds {
            await_a_turn();
            barriers.push(time(barrier).0);
            for (pattern, samples) in [("settings::callable", &mut named), ("**::callable", &mut found)] {
                let session = session();
                settle();
                await_a_turn();
                let (took, set) = time(|| runtime.block_on(session.set(pattern)));
                assert_eq!(set.expect("there is such a function").functions, 1, "{pattern}");
                samples.push(took);
                black_box(callable(1, 2));
                settle();
                await_a_turn();
                let (took, info) = time(|| runtime.block_on(session.close()));
                assert_eq!(info.delivered, 1, "the call is told once");
                removed.push(took);
                settle();
            }
        }
    });
    let [barriers, named, found, removed] = [barriers, named, found, removed].map(median);
    json!({"first": first, "membarrier": barriers, "named": named, "found": found, "removed": removed})
}
