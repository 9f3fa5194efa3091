//! The lengths of the pool's queues over time.

use super::timeline::Bucket;

/// The lengths of the pool's queues, one for each job that was added or taken.
#[derive(Default)]
pub struct QueueLength {
    pub longest: i64,
    pub sum: i64,
    pub steps: u64,
}

impl QueueLength {
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.steps as f64
    }
}

impl Bucket for QueueLength {
    fn merge(&mut self, next: Self) {
        self.longest = self.longest.max(next.longest);
        self.sum = self.sum.saturating_add(next.sum);
        self.steps += next.steps;
    }
}
