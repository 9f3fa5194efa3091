//! Figures of a group of operations.

use dyntrace_reader::FileOperation;

use super::spread::Spread;
use crate::operation::bytes;

#[derive(Default)]
pub struct Row {
    pub count: u64,
    /// How many bytes they moved.
    pub bytes: u64,
    pub errors: u64,
    pub total: Spread,
    pub queue_wait: Spread,
    pub service: Spread,
    pub delivery: Spread,
}

impl Row {
    /// Counts an operation that was answered.
    pub fn add(&mut self, operation: &FileOperation<'_>) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes(operation).unwrap_or(0));
        self.errors += u64::from(operation.completion.is_some_and(|answer| !answer.success));
        operation.duration().into_iter().for_each(|time| self.total.count(time));
        operation.queue_wait().into_iter().for_each(|time| self.queue_wait.count(time));
        operation.service().into_iter().for_each(|time| self.service.count(time));
        operation.delivery().into_iter().for_each(|time| self.delivery.count(time));
    }

    pub fn merge(&mut self, other: &Row) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.errors += other.errors;
        self.total.merge(&other.total);
        self.queue_wait.merge(&other.queue_wait);
        self.service.merge(&other.service);
        self.delivery.merge(&other.delivery);
    }
}
