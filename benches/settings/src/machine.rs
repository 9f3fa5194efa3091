//! Two processors: the setter is on the first, the disturbed thread on the second.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{hint, thread};

use clap::ValueEnum;
use rustix::thread::{CpuSet, MembarrierCommand, membarrier, sched_setaffinity};
use tokio::runtime::Runtime;

pub const SETTER: usize = 0;
pub const DISTURBED: usize = 1;

/// The activity of the other thread.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Other {
    Asleep,
    Spinning,
}

/// Binds this thread, and those that it starts from now on, to one processor.
pub fn stay_on(processor: usize) {
    let mut only = CpuSet::new();
    only.set(processor);
    sched_setaffinity(None, &only).expect("no such processor");
}

pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().build().expect("no runtime")
}

/// Measures the barrier in all threads; a setting has four.
pub fn barrier() {
    membarrier(MembarrierCommand::PrivateExpedited).expect("no membarrier");
}

/// Runs `measure` beside another thread. Its argument waits until that thread runs, so that scheduling by other programs is
/// not measured.
pub fn beside<R>(other: Other, measure: impl FnOnce(&dyn Fn()) -> R) -> R {
    let (done, turns) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            stay_on(DISTURBED);
            while !done.load(Ordering::Relaxed) {
                turns.fetch_add(1, Ordering::Relaxed);
                match other {
                    Other::Asleep => thread::park(),
                    Other::Spinning => hint::spin_loop(),
                }
            }
        });
        stay_on(SETTER);
        let measured = measure(&|| {
            let before = turns.load(Ordering::Relaxed);
            while other == Other::Spinning && turns.load(Ordering::Relaxed) == before {}
        });
        done.store(true, Ordering::Relaxed);
        thread.thread().unpark();
        measured
    })
}

pub fn time<R>(what: impl FnOnce() -> R) -> (u64, R) {
    let begun = Instant::now();
    let result = what();
    (begun.elapsed().as_nanos() as u64, result)
}

/// Lets background work finish.
pub fn settle() {
    thread::sleep(Duration::from_millis(1));
}

pub fn median(mut samples: Vec<u64>) -> u64 {
    samples.sort_unstable();
    samples[samples.len() / 2]
}
