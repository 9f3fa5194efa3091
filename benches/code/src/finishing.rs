//! The time of a finish: for one module and for many, beside few others and beside many.

use std::time::Instant;

use dyntrace::code;
use serde_json::{Value, json};

use crate::made::{Made, name};
use crate::runtime;

/// Returns microseconds of each finish that upgrades `modules` modules, beside `few` others and beside `many` others.
pub fn measure(modules: usize, few: usize, many: usize, rounds: usize) -> Value {
    let made = Made::new();
    runtime().block_on(async {
        let mut others = 0;
        let mut beside = async |number| {
            for other in others..number {
                code::finish([made.prepared(modules + other).await]).await.expect("others in force");
            }
            others = number;
            let mut times = Vec::new();
            for _ in 0..rounds {
                times.push(finish(&made, modules).await);
            }
            times
        };
        json!({"few": beside(few).await, "many": beside(many).await})
    })
}

async fn finish(made: &Made, modules: usize) -> f64 {
    let mut prepared = Vec::new();
    for module in 0..modules {
        prepared.push(made.prepared(module).await);
    }
    let begun = Instant::now();
    code::finish(prepared).await.expect("an upgrade");
    let time = begun.elapsed();
    for module in 0..modules {
        code::purge(&name(module)).await.expect("nobody is inside");
    }
    time.as_secs_f64() * 1e6
}
