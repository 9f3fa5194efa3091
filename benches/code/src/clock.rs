//! The clock of calls, for the program and for the module.

use std::hint::black_box;

use rustix::time::{ClockId, clock_gettime};

const CALLS: u32 = 10_000_000;

/// Returns nanoseconds of the thread's CPU time for each of many calls.
pub fn call_ns(mut call: impl FnMut(u32) -> u64) -> f64 {
    let begun = own_time();
    let sum = (0..CALLS).fold(0_u64, |sum, number| sum.wrapping_add(call(number)));
    let time = own_time() - begun;
    black_box(sum);
    time / f64::from(CALLS)
}

fn own_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
