//! The queues of a lane: one for each worker, and before it what the worker has in [hand](Hand). Plain data under the pool's lock.
//!
//! While some worker is idle, and the lock free, jobs stand only in the queues of workers that come to them soon or that were just
//! woken for them; the watch sees to it where that was wrong.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::clock::Time;
use super::hand::Hand;
use super::pace::{Pace, Turn};

pub(super) struct Queues<J> {
    of_worker: Vec<Queue<J>>,
    queued: usize,
}

struct Queue<J> {
    hand: Arc<Hand<J>>,
    jobs: VecDeque<J>,
    worker: Doing,
}

/// What a worker does.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Doing {
    Idle,
    /// It was woken, or started, and looks for jobs.
    Woken,
    /// It does what it has taken.
    Busy(Turn),
    /// The same, and it sleeps in it: nobody counts on it until it comes back.
    Stuck(Turn),
    /// It has ended. The queue is for the next one that starts.
    Gone,
}

impl<J> Queue<J> {
    fn length(&self) -> usize {
        self.hand.length() + self.jobs.len()
    }
}

impl<J> Queues<J> {
    pub fn new() -> Self {
        Queues { of_worker: Vec::new(), queued: 0 }
    }

    /// The queue for the next worker, and its hand; the worker is gone until it is [set](Queues::set) otherwise.
    pub fn vacant(&mut self) -> (usize, Arc<Hand<J>>) {
        let queue = self.find(|queue| queue.worker == Doing::Gone).unwrap_or_else(|| {
            let hand = Arc::new(Hand::new());
            self.of_worker.push(Queue { hand, jobs: VecDeque::new(), worker: Doing::Gone });
            self.of_worker.len() - 1
        });
        (queue, self.hand(queue))
    }

    pub fn hand(&self, worker: usize) -> Arc<Hand<J>> {
        Arc::clone(&self.of_worker[worker].hand)
    }

    /// How many jobs they hold, hands not counted.
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// How many jobs have not begun.
    pub fn waiting(&self) -> usize {
        self.of_worker.iter().map(Queue::length).sum()
    }

    /// How many jobs of one queue have not begun.
    pub fn length(&self, queue: usize) -> usize {
        self.of_worker[queue].length()
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

    /// The workers that do what they took for longer than that.
    pub fn suspects(&self, longer: Duration, now: Time) -> Vec<(usize, Turn)> {
        let busy = self.of_worker.iter().enumerate().filter_map(|(number, queue)| match queue.worker {
            Doing::Busy(turn) if now.since(turn.since) > longer => Some((number, turn)),
            _ => None,
        });
        busy.collect()
    }

    /// A busy worker that comes to a further job soon.
    pub fn soon(&self, pace: &Pace, now: Time) -> Option<usize> {
        self.find(|queue| matches!(queue.worker, Doing::Busy(turn) if pace.is_soon(turn, queue.jobs.len(), now)))
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

    /// Puts a job at the back of a queue; answers what its worker does.
    pub fn push(&mut self, queue: usize, job: J) -> Doing {
        self.queued += 1;
        let queue = &mut self.of_worker[queue];
        queue.jobs.push_back(job);
        queue.worker
    }

    /// What a hand holds goes back to the front of its queue, for others to take.
    pub fn give_back(&mut self, queue: usize) {
        let Queue { hand, jobs, .. } = &mut self.of_worker[queue];
        for job in hand.give_back() {
            jobs.push_front(job);
            self.queued += 1;
        }
    }

    /// Empties all queues and hands: each job with the length of its queue after the step.
    pub fn drain(&mut self) -> Vec<(J, usize)> {
        (0..self.of_worker.len()).for_each(|queue| self.give_back(queue));
        self.queued = 0;
        let queues = self.of_worker.iter_mut().map(|queue| std::mem::take(&mut queue.jobs));
        queues.flat_map(|jobs| (0..jobs.len()).rev().zip(jobs).map(|(length, job)| (job, length))).collect()
    }

    /// Takes as many jobs into the worker's hand from the front of its own queue, else of the longest one; answers how many. Each is
    /// shown to `note`.
    pub fn take(&mut self, worker: usize, most: usize, note: impl FnMut(&J)) -> usize {
        if self.queued == 0 {
            return 0;
        }
        let own = Some(worker).filter(|&queue| !self.of_worker[queue].jobs.is_empty());
        let Some(queue) = own.or_else(|| self.longest()) else { return 0 };
        let hand = self.hand(worker);
        let jobs = &mut self.of_worker[queue].jobs;
        let count = most.min(jobs.len());
        jobs.iter().take(count).for_each(note);
        hand.fill(jobs, count);
        self.queued -= count;
        count
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn queues(count: usize) -> Queues<&'static str> {
        let mut queues = Queues::new();
        for _ in 0..count {
            let (queue, _) = queues.vacant();
            queues.set(queue, Doing::Woken);
        }
        queues
    }

    /// What a worker that takes so many has in hand then.
    fn take(queues: &mut Queues<&'static str>, worker: usize, most: usize) -> Vec<&'static str> {
        let mut noted = Vec::new();
        assert_eq!(queues.take(worker, most, |job| noted.push(*job)), noted.len());
        let hand = queues.hand(worker);
        let taken: Vec<_> = std::iter::from_fn(|| hand.pop()).collect();
        assert_eq!(taken, noted);
        taken
    }

    #[test]
    fn what_is_in_hand_has_not_begun() {
        let mut queues = queues(2);
        ["a", "b", "c"].into_iter().for_each(|job| _ = queues.push(0, job));
        assert_eq!(queues.take(0, 2, |_| ()), 2);
        assert_eq!((queues.queued(), queues.waiting(), queues.length(0)), (1, 3, 3));
        queues.give_back(0);
        assert_eq!((queues.queued(), queues.waiting()), (3, 3));
        assert_eq!(take(&mut queues, 1, 4), ["a", "b", "c"], "in the order in which they came");
    }

    #[test]
    fn a_worker_takes_its_own_first_then_the_oldest_of_the_longest() {
        let mut queues = queues(3);
        queues.push(0, "own");
        queues.push(1, "short");
        queues.push(2, "long 1");
        queues.push(2, "long 2");
        assert_eq!(take(&mut queues, 0, 4), ["own"]);
        assert_eq!(take(&mut queues, 0, 1), ["long 1"]);
        assert_eq!((take(&mut queues, 0, 4).len(), take(&mut queues, 0, 4).len()), (1, 1));
        assert!(take(&mut queues, 0, 4).is_empty());
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
        assert_eq!((queues.workers(), queues.shortest(), queues.vacant().0), (1, Some(1), 0));
        queues.set(0, Doing::Woken);
        assert_eq!((queues.workers(), queues.vacant().0), (2, 2));
    }

    #[test]
    fn a_worker_that_is_stuck_comes_to_nothing_soon() {
        let now = Time::now();
        let mut queues = queues(2);
        let later = now.after(Duration::from_millis(1));
        let turn = |since| Turn { since, works: 1 };
        queues.set(0, Doing::Busy(turn(now)));
        queues.set(1, Doing::Busy(turn(later)));
        assert_eq!(queues.suspects(Duration::from_micros(500), later), [(0, turn(now))]);
        queues.set(0, Doing::Stuck(turn(now)));
        assert_eq!((queues.soon(&Pace::quick(), later), queues.reliable()), (Some(1), 1));
        assert_eq!(queues.suspects(Duration::ZERO, later), []);
    }
}
