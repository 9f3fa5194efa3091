//! Jobs that found the pool's queues full and wait for room. Plain data under the pool's lock.

use std::collections::BTreeMap;

/// Jobs in order of arrival. A map, so that a cancelled job leaves no gap.
pub(super) struct AdmissionQueue<J> {
    jobs: BTreeMap<Ticket, J>,
    tickets: u64,
}

/// Names one job in an [`AdmissionQueue`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket(u64);

impl<J> AdmissionQueue<J> {
    pub fn new() -> Self {
        AdmissionQueue { jobs: BTreeMap::new(), tickets: 0 }
    }

    pub fn length(&self) -> usize {
        self.jobs.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &J> {
        self.jobs.values()
    }

    pub fn push(&mut self, job: J) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.jobs.insert(ticket, job);
        ticket
    }

    /// Removes a job, unless it has left the queue already.
    pub fn cancel(&mut self, ticket: Ticket) -> Option<J> {
        self.jobs.remove(&ticket)
    }

    pub fn pop(&mut self) -> Option<J> {
        self.jobs.pop_first().map(|(_, job)| job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_its_order_when_a_job_is_cancelled() {
        let mut waiting = AdmissionQueue::new();
        waiting.push("a");
        let ticket = waiting.push("b");
        waiting.push("c");
        assert_eq!(waiting.cancel(ticket), Some("b"));
        assert_eq!(waiting.cancel(ticket), None);
        assert_eq!(waiting.length(), 2);
        assert_eq!(waiting.pop(), Some("a"));
        assert_eq!(waiting.pop(), Some("c"));
        assert_eq!(waiting.pop(), None);
    }
}
