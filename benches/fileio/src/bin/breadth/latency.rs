//! How long operations took, in buckets.

use std::time::Duration;

/// Buckets of a sixteenth of a power of two, in nanoseconds.
const STEPS: u64 = 16;
const BUCKETS: usize = 40 * STEPS as usize;

pub struct Latencies(Vec<u32>);

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies(vec![0; BUCKETS])
    }
}

impl Latencies {
    pub fn note(&mut self, took: Duration) {
        let time = (took.as_nanos() as u64).max(STEPS);
        let power = time.ilog2() - STEPS.ilog2();
        let bucket = u64::from(power) * STEPS + (time >> power) % STEPS;
        self.0[(bucket as usize).min(BUCKETS - 1)] += 1;
    }

    pub fn add(&mut self, others: &Latencies) {
        for (count, other) in self.0.iter_mut().zip(&others.0) {
            *count += other;
        }
    }

    pub fn count(&self) -> u64 {
        self.0.iter().map(|&count| u64::from(count)).sum()
    }

    /// Returns the time that this share of the operations did not exceed.
    pub fn at(&self, share: f64) -> Duration {
        let mut rest = (self.count() as f64 * share) as u64;
        let mut counts = self.0.iter().enumerate();
        let place = counts.find(|(_, count)| {
            let count = u64::from(**count);
            let is_here = count > 0 && count >= rest;
            rest = rest.saturating_sub(count);
            is_here
        });
        let bucket = place.map_or(0, |(bucket, _)| bucket as u64);
        Duration::from_nanos((STEPS + bucket % STEPS) << (bucket / STEPS))
    }
}
