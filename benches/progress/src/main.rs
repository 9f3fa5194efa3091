//! Measures waits for thread progress: `progress [WAITS]` prints, as JSON, medians in nanoseconds of the bare `membarrier(2)`, of a
//! thread's wait and of a task's, while one other thread is asleep, spins, pins all the time, or is
//! pinned for 30 us each time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{hint, thread};

use dyntrace_probes::thread_progress;
use rustix::thread::{CpuSet, MembarrierCommand, membarrier, sched_setaffinity};
use serde_json::{Map, Value, json};

/// The time in which a traced function formats large arguments.
const LINGER: Duration = Duration::from_micros(30);

fn main() {
    let waits = std::env::args().nth(1).map_or(2000, |number| number.parse().expect("a number of waits"));
    thread_progress::prepare().expect("no handler for forks");
    let figures: Map<String, Value> = [
        ("asleep", Other::Asleep),
        ("spinning", Other::Spinning),
        ("pinning", Other::Pinning),
        ("lingering", Other::Lingering),
    ]
    .map(|(name, other)| (name.into(), beside(other, waits)))
    .into_iter()
    .collect();
    println!("{}", Value::Object(figures));
}

/// Binds the threads to different processors: on one processor they would take turns, and the barrier interrupts only running threads.
fn stay_on(processor: usize) {
    let mut only = CpuSet::new();
    only.set(processor);
    sched_setaffinity(None, &only).expect("no such processor");
}

/// The activity of the other thread.
#[derive(Clone, Copy)]
enum Other {
    Asleep,
    Spinning,
    Pinning,
    /// Pinned for longer than a wait spins.
    Lingering,
}

fn beside(other: Other, waits: usize) -> Value {
    let done = AtomicBool::new(false);
    let turns = AtomicU64::new(0);
    // So that scheduling by other programs is not measured.
    let await_a_turn = || {
        let before = turns.load(Ordering::Relaxed);
        while !matches!(other, Other::Asleep) && turns.load(Ordering::Relaxed) == before {}
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("no runtime");
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            stay_on(1);
            while !done.load(Ordering::Relaxed) {
                turns.fetch_add(1, Ordering::Relaxed);
                match other {
                    Other::Asleep => thread::park(),
                    Other::Spinning => hint::spin_loop(),
                    Other::Pinning => drop(thread_progress::pin()),
                    Other::Lingering => {
                        let _pinned = thread_progress::pin();
                        let begun = Instant::now();
                        while begun.elapsed() < LINGER {}
                    }
                }
            }
        });
        stay_on(0);
        thread::sleep(Duration::from_millis(20));
        // In turns, so that all are measured on the same machine load.
        let mut samples = [const { Vec::new() }; 3];
        for _ in 0..waits {
            let ways: [&dyn Fn(); 3] = [
                &|| membarrier(MembarrierCommand::PrivateExpedited).expect("no membarrier"),
                &|| thread_progress::wait_blocking(Duration::MAX).expect("late"),
                &|| drop(runtime.block_on(thread_progress::wait())),
            ];
            for (way, samples) in ways.into_iter().zip(&mut samples) {
                await_a_turn();
                let begun = Instant::now();
                way();
                samples.push(begun.elapsed().as_nanos() as u64);
            }
        }
        done.store(true, Ordering::Relaxed);
        thread.thread().unpark();
        let [barrier, blocking, task] = samples.map(|mut samples| {
            samples.sort_unstable();
            samples[samples.len() / 2]
        });
        json!({"membarrier": barrier, "wait_blocking": blocking, "wait": task})
    })
}
