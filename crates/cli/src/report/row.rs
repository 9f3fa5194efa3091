//! A row of a table: some operations, and how their time was spread.

use dyntrace_reader::Operation;
use hdrhistogram::Histogram;

use crate::operation::bytes;

/// Figures of some operations.
#[derive(Default)]
pub struct Row {
    /// How many there were.
    pub count: u64,
    /// How many bytes they asked for.
    pub bytes: u64,
    /// How many failed.
    pub errors: u64,
    /// How long they waited for an I/O thread.
    pub queue_wait: Spread,
    /// How long the work took.
    pub service: Spread,
    /// How long the answers waited to be taken.
    pub delivery: Spread,
}

/// How times are spread, within one percent.
pub struct Spread(Histogram<u64>);

impl Default for Spread {
    fn default() -> Self {
        Spread(Histogram::new(2).expect("two digits are a precision"))
    }
}

impl Spread {
    /// Counts so many nanoseconds. What is below zero, as between clocks that disagree, is zero.
    pub fn count(&mut self, nanoseconds: i64) {
        self.0.record(nanoseconds.max(0) as u64).expect("a histogram that grows takes any value");
    }

    /// The time that so many of a hundred did not pass, in nanoseconds; `None` if there are none.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.value_at_percentile(percent))
    }

    fn merge(&mut self, other: &Spread) {
        self.0.add(&other.0).expect("a histogram that grows takes any value");
    }
}

impl Row {
    /// Counts an operation that was answered.
    pub fn add(&mut self, operation: &Operation<'_>) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes(&operation.asked).unwrap_or(0));
        self.errors += u64::from(operation.answer.is_some_and(|answer| !answer.success));
        operation.queue_wait().into_iter().for_each(|time| self.queue_wait.count(time));
        operation.service().into_iter().for_each(|time| self.service.count(time));
        operation.delivery().into_iter().for_each(|time| self.delivery.count(time));
    }

    /// Takes in another row.
    pub fn merge(&mut self, other: &Row) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.errors += other.errors;
        self.queue_wait.merge(&other.queue_wait);
        self.service.merge(&other.service);
        self.delivery.merge(&other.delivery);
    }
}
