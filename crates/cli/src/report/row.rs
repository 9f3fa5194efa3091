//! A row of a table: figures of a group of operations.

use dyntrace_reader::FileOperation;
use hdrhistogram::Histogram;

use crate::operation::bytes;

#[derive(Default)]
pub struct Row {
    pub count: u64,
    /// How many bytes they moved.
    pub bytes: u64,
    pub errors: u64,
    pub queue_wait: Spread,
    pub service: Spread,
    pub delivery: Spread,
}

/// The distribution of durations, within one percent.
pub struct Spread(Histogram<u64>);

impl Default for Spread {
    fn default() -> Self {
        Spread(Histogram::new(2).expect("two digits are a precision"))
    }
}

impl Spread {
    /// Counts a duration in nanoseconds. A negative one, between clocks that disagree, counts as zero.
    pub fn count(&mut self, nanoseconds: i64) {
        self.0.record(nanoseconds.max(0) as u64).expect("a histogram that grows takes any value");
    }

    /// The percentile in nanoseconds; `None` if nothing was counted.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.value_at_percentile(percent))
    }

    fn merge(&mut self, other: &Spread) {
        self.0.add(&other.0).expect("a histogram that grows takes any value");
    }
}

impl Row {
    /// Counts an operation that was answered.
    pub fn add(&mut self, operation: &FileOperation<'_>) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes(operation).unwrap_or(0));
        self.errors += u64::from(operation.completion.is_some_and(|answer| !answer.success));
        operation.queue_wait().into_iter().for_each(|time| self.queue_wait.count(time));
        operation.service().into_iter().for_each(|time| self.service.count(time));
        operation.delivery().into_iter().for_each(|time| self.delivery.count(time));
    }

    pub fn merge(&mut self, other: &Row) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.errors += other.errors;
        self.queue_wait.merge(&other.queue_wait);
        self.service.merge(&other.service);
        self.delivery.merge(&other.delivery);
    }
}
