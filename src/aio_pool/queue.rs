//! The queues: one for each worker, and the line at the door for what finds them full. Plain data under the pool's lock.
//!
//! Two things hold whenever the lock is free:
//! - while some worker is idle, jobs stand only in the queues of workers that were just woken for them;
//! - somebody stands in the line only while the queues are full.

use std::collections::{BTreeMap, VecDeque};

pub(super) struct Queues<J> {
    of_worker: Vec<Queue<J>>,
    /// How many jobs all queues may hold together, and how many they hold.
    bound: usize,
    queued: usize,
    /// In order of arrival. A map, so that who goes away leaves no gap behind.
    line: BTreeMap<Ticket, J>,
    tickets: u64,
}

struct Queue<J> {
    jobs: VecDeque<J>,
    idle: bool,
}

/// A place in the line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket(u64);

/// A job that was taken out of a queue.
pub(super) struct Taken<J> {
    pub job: J,
    pub queue: usize,
    /// The queue's length after the step.
    pub length: usize,
}

impl<J> Queues<J> {
    pub fn new(bound: usize) -> Self {
        Queues { of_worker: Vec::new(), bound, queued: 0, line: BTreeMap::new(), tickets: 0 }
    }

    /// Opens the queue of one more worker, which is busy at first.
    pub fn open(&mut self) -> usize {
        self.of_worker.push(Queue { jobs: VecDeque::new(), idle: false });
        self.of_worker.len() - 1
    }

    /// How many queues are open.
    pub fn count(&self) -> usize {
        self.of_worker.len()
    }

    pub fn are_full(&self) -> bool {
        self.queued >= self.bound
    }

    /// The first idle worker: so the same few are woken again and again, and the others sleep on.
    pub fn idle(&self) -> Option<usize> {
        self.of_worker.iter().position(|queue| queue.idle)
    }

    pub fn shortest(&self) -> Option<usize> {
        (0..self.count()).min_by_key(|&queue| self.of_worker[queue].jobs.len())
    }

    fn longest(&self) -> Option<usize> {
        (0..self.count()).max_by_key(|&queue| self.of_worker[queue].jobs.len())
    }

    /// Says whether a worker is idle; answers whether it was.
    pub fn set_idle(&mut self, worker: usize, idle: bool) -> bool {
        std::mem::replace(&mut self.of_worker[worker].idle, idle)
    }

    /// Puts a job at the back of a queue; answers the queue's length after that.
    pub fn push(&mut self, queue: usize, job: J) -> usize {
        let jobs = &mut self.of_worker[queue].jobs;
        jobs.push_back(job);
        self.queued += 1;
        jobs.len()
    }

    /// Takes the job at the front of the worker's own queue, else of the longest one.
    pub fn take(&mut self, own: Option<usize>) -> Option<Taken<J>> {
        let own = own.filter(|&queue| !self.of_worker[queue].jobs.is_empty());
        let queue = own.or_else(|| self.longest())?;
        let jobs = &mut self.of_worker[queue].jobs;
        let job = jobs.pop_front()?;
        self.queued -= 1;
        Some(Taken { job, queue, length: jobs.len() })
    }

    /// Puts a job at the end of the line.
    pub fn stand_in_line(&mut self, job: J) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.line.insert(ticket, job);
        ticket
    }

    /// Takes a job out of the line, if it still stands there.
    pub fn leave_line(&mut self, ticket: Ticket) -> Option<J> {
        self.line.remove(&ticket)
    }

    /// Takes the first job of the line.
    pub fn next_in_line(&mut self) -> Option<J> {
        self.line.pop_first().map(|(_, job)| job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queues(count: usize, bound: usize) -> Queues<&'static str> {
        let mut queues = Queues::new(bound);
        for _ in 0..count {
            queues.open();
        }
        queues
    }

    fn take(queues: &mut Queues<&'static str>, own: Option<usize>) -> Option<(&'static str, usize, usize)> {
        queues.take(own).map(|taken| (taken.job, taken.queue, taken.length))
    }

    #[test]
    fn lengths_are_those_of_the_one_queue_after_the_step() {
        let mut queues = queues(2, 10);
        assert_eq!(queues.push(0, "a"), 1);
        assert_eq!(queues.push(0, "b"), 2);
        assert_eq!(queues.push(1, "c"), 1);
        assert_eq!(take(&mut queues, Some(0)), Some(("a", 0, 1)));
        assert_eq!(take(&mut queues, Some(0)), Some(("b", 0, 0)));
    }

    #[test]
    fn a_worker_takes_its_own_first_then_the_oldest_of_the_longest() {
        let mut queues = queues(3, 10);
        queues.push(0, "own");
        queues.push(1, "short");
        queues.push(2, "long 1");
        queues.push(2, "long 2");
        assert_eq!(take(&mut queues, Some(0)), Some(("own", 0, 0)));
        assert_eq!(take(&mut queues, Some(0)), Some(("long 1", 2, 1)));
        take(&mut queues, Some(0)).unwrap();
        take(&mut queues, Some(0)).unwrap();
        assert_eq!(take(&mut queues, Some(0)), None);
    }

    #[test]
    fn idle_workers_are_found_lowest_first() {
        let mut queues = queues(3, 10);
        assert_eq!(queues.idle(), None);
        queues.set_idle(2, true);
        queues.set_idle(1, true);
        assert_eq!(queues.idle(), Some(1));
        assert!(queues.set_idle(1, false));
        assert_eq!(queues.idle(), Some(2));
    }

    #[test]
    fn the_bound_is_over_all_queues() {
        let mut queues = queues(2, 2);
        queues.push(0, "a");
        assert!(!queues.are_full());
        queues.push(1, "b");
        assert!(queues.are_full());
        take(&mut queues, None);
        assert!(!queues.are_full());
    }

    #[test]
    fn the_line_keeps_its_order_when_one_goes_away() {
        let mut queues = queues(0, 0);
        queues.stand_in_line("a");
        let ticket = queues.stand_in_line("b");
        queues.stand_in_line("c");
        assert_eq!(queues.leave_line(ticket), Some("b"));
        assert_eq!(queues.leave_line(ticket), None);
        assert_eq!(queues.next_in_line(), Some("a"));
        assert_eq!(queues.next_in_line(), Some("c"));
        assert_eq!(queues.next_in_line(), None);
    }
}
