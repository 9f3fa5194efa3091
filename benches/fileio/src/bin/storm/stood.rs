//! How long polls took, without those that the scheduler interrupted.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};

/// A bucket's bounds differ by a 32nd: enough for a figure.
const STEPS: u32 = 5;

/// Durations of polls, in nanoseconds.
#[derive(Clone)]
pub struct Stood {
    buckets: Vec<u64>,
    longest: u64,
    preempted: u64,
    longest_preempted: u64,
    slept: u64,
}

impl Default for Stood {
    fn default() -> Stood {
        Stood { buckets: vec![0; 64 << STEPS], longest: 0, preempted: 0, longest_preempted: 0, slept: 0 }
    }
}

/// A thread's voluntary and other context switches.
fn switches() -> (i64, i64) {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).expect("getrusage knows this thread");
    (usage.voluntary_context_switches(), usage.involuntary_context_switches())
}

/// Awaits `future`, and adds the time of each of its polls: to `answered` that of a first poll which is ready, to `others` the rest.
pub async fn watch<F: Future>(answered: &mut Stood, others: &mut Stood, future: F) -> F::Output {
    let mut future = pin!(future);
    let mut is_first = true;
    poll_fn(|cx| {
        let (before, from) = (switches(), Instant::now());
        let answer = future.as_mut().poll(cx);
        let took = u64::try_from(from.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let after = switches();
        let stood = if is_first && answer.is_ready() { &mut *answered } else { &mut *others };
        is_first = false;
        stood.note(took, after.0 != before.0, after.1 != before.1);
        answer
    })
    .await
}

impl Stood {
    fn note(&mut self, took: u64, has_slept: bool, was_preempted: bool) {
        if was_preempted && !has_slept {
            self.preempted += 1;
            self.longest_preempted = self.longest_preempted.max(took);
            return;
        }
        self.slept += u64::from(has_slept);
        self.longest = self.longest.max(took);
        self.buckets[bucket(took)] += 1;
    }

    pub fn add(&mut self, other: &Stood) {
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(ours, theirs)| *ours += theirs);
        self.longest = self.longest.max(other.longest);
        self.preempted += other.preempted;
        self.longest_preempted = self.longest_preempted.max(other.longest_preempted);
        self.slept += other.slept;
    }

    /// The upper bound of the bucket that holds this quantile, in microseconds.
    fn quantile(&self, part: f64) -> f64 {
        let wanted = (self.count() as f64 * part).ceil() as u64;
        let mut seen = 0;
        let at = self.buckets.iter().position(|count| {
            seen += count;
            seen >= wanted
        });
        at.map_or(0.0, |at| bound(at).min(self.longest) as f64 / 1e3)
    }

    fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    pub fn report(&self) -> Value {
        json!({
            "polls": self.count(),
            "p50": self.quantile(0.5),
            "p99": self.quantile(0.99),
            "p9999": self.quantile(0.9999),
            "longest": self.longest as f64 / 1e3,
            "slept": self.slept,
            "preempted": self.preempted,
            "longest_preempted": self.longest_preempted as f64 / 1e3,
        })
    }
}

/// The exponent, and the first bits after the highest.
fn bucket(nanoseconds: u64) -> usize {
    let nanoseconds = nanoseconds.max(1 << STEPS);
    let shift = nanoseconds.ilog2() - STEPS;
    ((shift as usize) << STEPS) + (nanoseconds >> shift) as usize - (1 << STEPS)
}

fn bound(bucket: usize) -> u64 {
    let (shift, step) = (bucket >> STEPS, (bucket & ((1 << STEPS) - 1)) + (1 << STEPS) + 1);
    ((step as u128) << shift).min(u64::MAX.into()) as u64
}
