//! Memory left behind by modules that were loaded and unloaded.

use std::fs;

use dyntrace::code;
use serde_json::{Value, json};

use crate::made::{Made, remove};
use crate::runtime;

/// The number of samples.
const SAMPLES: usize = 10;

/// Returns the process's resident KiB and mappings after each tenth of the cycles.
pub fn measure(cycles: usize) -> Value {
    let made = Made::new();
    let (mut kib, mut mappings) = (Vec::new(), Vec::new());
    runtime().block_on(async {
        for cycle in 1..=cycles {
            code::finish([made.prepared(0).await]).await.expect("a module in force");
            remove(0).await;
            if cycle % (cycles / SAMPLES) == 0 {
                kib.push(resident_kib());
                mappings.push(fs::read_to_string("/proc/self/maps").expect("the mappings").lines().count());
            }
        }
    });
    json!({"kib": kib, "mappings": mappings, "kept": code::kept()})
}

fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("the process's state");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}
