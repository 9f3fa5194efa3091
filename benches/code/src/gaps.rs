//! The longest gap of a thread that calls a module in a loop, while the module is upgraded, and beside a spinning thread.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dyntrace::code;
use rustix::thread::{CpuSet, sched_setaffinity};
use serde_json::{Value, json};

use crate::made::{Made, name};
use crate::runtime;

/// A thread that loses its processor is away for at least this time.
const NOTABLE: Duration = Duration::from_micros(2);

/// The thread that upgrades or spins is on the first processor, the caller on the second.
const UPGRADER: usize = 0;
const CALLER: usize = 1;

/// Returns for each window of `upgrades` upgrades the longest gaps in nanoseconds: beside the upgrades, and for the same time beside a spinner.
pub fn measure(windows: usize, upgrades: usize) -> Value {
    stay_on(UPGRADER);
    let made = Made::new();
    let runtime = runtime();
    let upgrade = || {
        runtime.block_on(async {
            code::finish([made.prepared(0).await]).await.expect("an upgrade");
            code::purge(&name(0)).await.expect("nobody is inside for long");
        });
    };
    upgrade();
    let (mut upgrading, mut spinning, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..windows {
        let begun = Instant::now();
        upgrading.push(beside(|| (0..upgrades).for_each(|_| upgrade())));
        let length = begun.elapsed();
        seconds.push(length.as_secs_f64());
        spinning.push(beside(|| {
            let begun = Instant::now();
            while begun.elapsed() < length {}
        }));
    }
    json!({"upgrading": upgrading, "spinning": spinning, "seconds": seconds})
}

/// Returns the longest gap of a caller while `busy` runs, without those in which the system gave its processor to another thread.
fn beside(busy: impl FnOnce()) -> u64 {
    let export = code::lookup::<fn(u32) -> u64>(&name(0), "price").expect("its export");
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let caller = scope.spawn(|| {
            stay_on(CALLER);
            let mut longest = Duration::ZERO;
            let (mut last, mut switches) = (Instant::now(), switches_of_thread());
            while !is_done.load(Ordering::Relaxed) {
                assert_eq!(export.call(7).expect("a version is current"), 910);
                let mut now = Instant::now();
                let gap = now - last;
                if gap > NOTABLE {
                    let before = mem::replace(&mut switches, switches_of_thread());
                    if before == switches {
                        longest = longest.max(gap);
                    }
                    now = Instant::now();
                }
                last = now;
            }
            longest
        });
        busy();
        is_done.store(true, Ordering::Relaxed);
        caller.join().expect("it only calls").as_nanos() as u64
    })
}

fn stay_on(processor: usize) {
    let mut only = CpuSet::new();
    only.set(processor);
    sched_setaffinity(None, &only).expect("no such processor");
}

/// Returns the number of this thread's involuntary context switches.
fn switches_of_thread() -> i64 {
    // SAFETY: all zeros is a valid value.
    let mut usage: libc::rusage = unsafe { mem::zeroed() };
    // SAFETY: `usage` is valid for writes.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
    usage.ru_nivcsw
}
