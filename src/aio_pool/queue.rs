//! The queues of a lane: one for each worker. Plain data under the pool's lock.
//!
//! While some worker is idle, and the lock free, jobs stand only in the queues of workers that come to them soon or that were just
//! woken for them; the watch sees to it where that was wrong.

use std::collections::VecDeque;
use std::time::Duration;

use super::clock::Time;
use super::pace::Pace;

pub(super) struct Queues<J> {
    of_worker: Vec<Queue<J>>,
    queued: usize,
}

struct Queue<J> {
    jobs: VecDeque<J>,
    worker: Doing,
}

/// What a worker does.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Doing {
    Idle,
    /// It was woken, or started, and looks for a job.
    Woken,
    /// It does a job since then.
    Busy(Time),
    /// The same, and it sleeps in it: nobody counts on it until it comes back.
    Stuck(Time),
    /// It has ended. The queue is for the next one that starts.
    Gone,
}

/// A job that was taken out of a queue.
pub(super) struct Taken<J> {
    pub job: J,
    pub queue: usize,
    /// The queue's length after the step.
    pub length: usize,
    /// When.
    pub begun: Time,
}

impl<J> Queues<J> {
    pub fn new() -> Self {
        Queues { of_worker: Vec::new(), queued: 0 }
    }

    /// Which queue the next worker gets.
    pub fn vacant(&self) -> usize {
        self.find(|queue| queue.worker == Doing::Gone).unwrap_or(self.of_worker.len())
    }

    /// Opens the queue that was vacant, for a worker that was started.
    pub fn open(&mut self, queue: usize) {
        if queue == self.of_worker.len() {
            self.of_worker.push(Queue { jobs: VecDeque::new(), worker: Doing::Gone });
        }
        self.of_worker[queue].worker = Doing::Woken;
    }

    /// How many jobs they hold.
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// How many workers do what the condition says.
    pub fn count(&self, condition: impl Fn(Doing) -> bool) -> usize {
        self.of_worker.iter().filter(|queue| condition(queue.worker)).count()
    }

    /// How many workers there are.
    pub fn workers(&self) -> usize {
        self.count(|worker| worker != Doing::Gone)
    }

    /// How many workers there are that do not sleep in a job.
    pub fn reliable(&self) -> usize {
        self.count(|worker| !matches!(worker, Doing::Gone | Doing::Stuck(_)))
    }

    /// The workers that do one job for longer than that, and since when.
    pub fn suspects(&self, longer: Duration, now: Time) -> Vec<(usize, Time)> {
        let busy = self.of_worker.iter().enumerate().filter_map(|(number, queue)| match queue.worker {
            Doing::Busy(since) if now.since(since) > longer => Some((number, since)),
            _ => None,
        });
        busy.collect()
    }

    /// A busy worker that comes to a further job soon.
    pub fn soon(&self, pace: &Pace, now: Time) -> Option<usize> {
        self.find(|queue| matches!(queue.worker, Doing::Busy(since) if pace.is_soon(since, queue.jobs.len(), now)))
    }

    /// The first idle worker: so the same few are woken again and again, and the others sleep on.
    pub fn idle(&self) -> Option<usize> {
        self.find(|queue| queue.worker == Doing::Idle)
    }

    /// The shortest queue of all workers.
    pub fn shortest(&self) -> Option<usize> {
        let queues = (0..self.of_worker.len()).filter(|&queue| self.doing(queue) != Doing::Gone);
        queues.min_by_key(|&queue| self.of_worker[queue].jobs.len())
    }

    fn longest(&self) -> Option<usize> {
        (0..self.of_worker.len()).max_by_key(|&queue| self.of_worker[queue].jobs.len())
    }

    fn find(&self, condition: impl Fn(&Queue<J>) -> bool) -> Option<usize> {
        self.of_worker.iter().position(condition)
    }

    pub fn doing(&self, worker: usize) -> Doing {
        self.of_worker[worker].worker
    }

    /// Says what a worker does; answers what it did.
    pub fn set(&mut self, worker: usize, doing: Doing) -> Doing {
        std::mem::replace(&mut self.of_worker[worker].worker, doing)
    }

    /// Puts a job at the back of a queue; answers the queue's length after that.
    pub fn push(&mut self, queue: usize, job: J) -> usize {
        let jobs = &mut self.of_worker[queue].jobs;
        jobs.push_back(job);
        self.queued += 1;
        jobs.len()
    }

    /// Takes the job at the front of the worker's own queue, else of the longest one.
    pub fn take(&mut self, own: Option<usize>, now: Time) -> Option<Taken<J>> {
        if self.queued == 0 {
            return None;
        }
        let own = own.filter(|&queue| !self.of_worker[queue].jobs.is_empty());
        let queue = own.or_else(|| self.longest())?;
        let jobs = &mut self.of_worker[queue].jobs;
        let job = jobs.pop_front()?;
        self.queued -= 1;
        Some(Taken { job, queue, length: jobs.len(), begun: now })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn queues(count: usize) -> Queues<&'static str> {
        let mut queues = Queues::new();
        for _ in 0..count {
            queues.open(queues.vacant());
        }
        queues
    }

    fn take(queues: &mut Queues<&'static str>, own: usize) -> Option<(&'static str, usize)> {
        queues.take(Some(own), Time::now()).map(|taken| (taken.job, taken.length))
    }

    #[test]
    fn lengths_are_those_of_the_one_queue_after_the_step() {
        let mut queues = queues(2);
        assert_eq!(queues.push(0, "a"), 1);
        assert_eq!(queues.push(0, "b"), 2);
        assert_eq!(queues.push(1, "c"), 1);
        assert_eq!(queues.queued(), 3);
        assert_eq!(take(&mut queues, 0), Some(("a", 1)));
        assert_eq!(take(&mut queues, 0), Some(("b", 0)));
    }

    #[test]
    fn a_worker_takes_its_own_first_then_the_oldest_of_the_longest() {
        let mut queues = queues(3);
        queues.push(0, "own");
        queues.push(1, "short");
        queues.push(2, "long 1");
        queues.push(2, "long 2");
        assert_eq!(take(&mut queues, 0), Some(("own", 0)));
        assert_eq!(take(&mut queues, 0), Some(("long 1", 1)));
        take(&mut queues, 0).unwrap();
        take(&mut queues, 0).unwrap();
        assert_eq!(take(&mut queues, 0), None);
    }

    #[test]
    fn idle_workers_are_found_lowest_first() {
        let mut queues = queues(3);
        assert_eq!(queues.idle(), None);
        queues.set(2, Doing::Idle);
        queues.set(1, Doing::Idle);
        assert_eq!(queues.idle(), Some(1));
    }

    #[test]
    fn a_worker_that_is_gone_leaves_its_queue_to_the_next() {
        let mut queues = queues(2);
        queues.set(0, Doing::Gone);
        assert_eq!((queues.workers(), queues.shortest(), queues.vacant()), (1, Some(1), 0));
        queues.open(0);
        assert_eq!((queues.workers(), queues.vacant()), (2, 2));
    }

    #[test]
    fn a_worker_that_is_stuck_comes_to_nothing_soon() {
        let now = Time::now();
        let mut queues = queues(2);
        let later = now.after(Duration::from_millis(1));
        queues.set(0, Doing::Busy(now));
        queues.set(1, Doing::Busy(later));
        assert_eq!(queues.suspects(Duration::from_micros(500), later), [(0, now)]);
        queues.set(0, Doing::Stuck(now));
        assert_eq!((queues.soon(&Pace::quick(), later), queues.reliable()), (Some(1), 1));
        assert_eq!(queues.suspects(Duration::ZERO, later), []);
    }
}
