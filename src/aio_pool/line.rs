//! The line at the door, for what finds the queues full. Plain data under the pool's lock.

use std::collections::BTreeMap;

/// Jobs in order of arrival. A map, so that who goes away leaves no gap behind.
pub(super) struct Line<J> {
    jobs: BTreeMap<Ticket, J>,
    tickets: u64,
}

/// A place in the line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket(u64);

impl<J> Line<J> {
    pub fn new() -> Self {
        Line { jobs: BTreeMap::new(), tickets: 0 }
    }

    pub fn length(&self) -> usize {
        self.jobs.len()
    }

    /// Puts a job at the end.
    pub fn stand(&mut self, job: J) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.jobs.insert(ticket, job);
        ticket
    }

    /// Takes a job out, if it still stands there.
    pub fn leave(&mut self, ticket: Ticket) -> Option<J> {
        self.jobs.remove(&ticket)
    }

    /// Takes the first job.
    pub fn next(&mut self) -> Option<J> {
        self.jobs.pop_first().map(|(_, job)| job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_its_order_when_one_goes_away() {
        let mut line = Line::new();
        line.stand("a");
        let ticket = line.stand("b");
        line.stand("c");
        assert_eq!(line.leave(ticket), Some("b"));
        assert_eq!(line.leave(ticket), None);
        assert_eq!(line.length(), 2);
        assert_eq!(line.next(), Some("a"));
        assert_eq!(line.next(), Some("c"));
        assert_eq!(line.next(), None);
    }
}
