//! Figures of tasks, waits, messages and pools. Those of operations are of `report` and `diff`.

use dyntrace_analysis::figures::{Row, Spread};

use super::sliding::Sum;

impl Sum for Row {
    fn merge(&mut self, other: &Row) {
        Row::merge(self, other);
    }
}

#[derive(Default)]
pub struct Polled {
    pub spawned: u64,
    pub ended: u64,
    pub panics: u64,
    pub polls: Spread,
}

impl Sum for Polled {
    fn merge(&mut self, other: &Polled) {
        self.spawned += other.spawned;
        self.ended += other.ended;
        self.panics += other.panics;
        self.polls.merge(&other.polls);
    }
}

#[derive(Default)]
pub struct Waited {
    pub begun: u64,
    /// Of those that ended.
    pub times: Spread,
}

impl Sum for Waited {
    fn merge(&mut self, other: &Waited) {
        self.begun += other.begun;
        self.times.merge(&other.times);
    }
}

#[derive(Default)]
pub struct Messages {
    pub sent: u64,
    pub received: u64,
    pub queue_max: u64,
}

impl Sum for Messages {
    fn merge(&mut self, other: &Messages) {
        self.sent += other.sent;
        self.received += other.received;
        self.queue_max = self.queue_max.max(other.queue_max);
    }
}

#[derive(Default)]
pub struct Jobs {
    pub jobs: u64,
    pub queue_max: u64,
    pub service: Spread,
}

impl Sum for Jobs {
    fn merge(&mut self, other: &Jobs) {
        self.jobs += other.jobs;
        self.queue_max = self.queue_max.max(other.queue_max);
        self.service.merge(&other.service);
    }
}
