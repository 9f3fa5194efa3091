//! The rate at which addresses are resolved to module, version, function, file and line.

use std::hint::black_box;
use std::time::Instant;

use dyntrace::code;
use serde_json::{Value, json};

use crate::made::Made;
use crate::runtime;

const ADDRESSES: usize = 1_000_000;

/// Returns millions a second, for each round, with `modules` modules loaded.
pub fn measure(modules: usize, rounds: usize) -> Value {
    let made = Made::with_lines();
    runtime().block_on(async {
        for module in 0..modules {
            code::finish([made.prepared(module).await]).await.expect("a module in force");
        }
    });
    let ranges: Vec<_> = code::list().into_iter().filter_map(|module| Some(module.current?.range)).collect();
    // Spread over all modules, in an order that a processor cannot predict.
    let mut state = 1_u64;
    let addresses: Vec<usize> = (0..ADDRESSES)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let random = (state >> 33) as usize;
            let range = &ranges[random % ranges.len()];
            range.start + random / ranges.len() % range.len()
        })
        .collect();
    let pass = || {
        let begun = Instant::now();
        let mut known = [0; 2];
        for &address in &addresses {
            let place = code::resolve(address).expect("it lies in a module");
            known[0] += usize::from(black_box(place.function()).is_some());
            known[1] += usize::from(black_box(place.line()).is_some());
        }
        (begun.elapsed(), known)
    };
    // The first look-up reads the files.
    let (first, [functions, lines]) = pass();
    let rates: Vec<f64> = (0..rounds).map(|_| ADDRESSES as f64 / pass().0.as_secs_f64() / 1e6).collect();
    json!({"millions": rates, "first_ms": first.as_millis() as u64, "functions": functions, "lines": lines})
}
