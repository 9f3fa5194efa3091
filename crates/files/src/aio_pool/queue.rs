//! The queues of a lane: for each worker its [batch](Batch) and, behind it, its queue. Plain data under the pool's lock.
//!
//! While a worker is idle, and the lock free, jobs wait only for workers that will start them soon or were just woken for them, and for the
//! worker that changes their [directory](super::directories). The watchdog moves a job whose worker does not start it soon.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::batch::Batch;
use super::clock::Time;
use super::directories::{Changes, Directories};
use super::pace::{Pace, RunningBatch};

/// A job, as far as the queues look at it.
pub(super) trait Queued {
    fn changes(&self) -> Changes;
}

pub(super) struct Queues<J> {
    of_worker: Vec<Queue<J>>,
    directories: Directories,
    queued: usize,
    /// How many workers are [`Blocked`](WorkerState::Blocked).
    blocked: usize,
}

struct Queue<J> {
    batch: Arc<Batch<J>>,
    jobs: VecDeque<J>,
    /// Jobs behind others of their directory, which only this worker takes.
    behind: VecDeque<J>,
    /// Whether the worker took its last batch from those.
    was_behind: bool,
    worker: WorkerState,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum WorkerState {
    Idle,
    /// It was woken, or started, and looks for jobs.
    Woken,
    /// It runs a batch.
    Busy(RunningBatch),
    /// It runs a batch and was found blocked in a job. It gets no jobs until it asks for some, unless all workers are blocked. Others take
    /// the jobs of its queue before their own.
    Blocked(RunningBatch),
    /// It has ended. The next worker that starts takes the queue.
    Gone,
}

impl WorkerState {
    fn is_blocked(self) -> bool {
        matches!(self, WorkerState::Blocked(_))
    }
}

impl<J> Queue<J> {
    fn length(&self) -> usize {
        self.batch.length() + self.queued()
    }

    /// Without the batch.
    fn queued(&self) -> usize {
        self.jobs.len() + self.behind.len()
    }

    /// Returns whether the worker takes its next batch from the jobs behind others of their directory: it takes both kinds in turn.
    fn turns(&mut self) -> bool {
        self.was_behind = self.jobs.is_empty() || !self.was_behind && !self.behind.is_empty();
        self.was_behind
    }
}

impl<J: Queued> Queues<J> {
    pub fn new() -> Self {
        Queues { of_worker: Vec::new(), directories: Directories::default(), queued: 0, blocked: 0 }
    }

    /// Returns a queue for the next worker, and its batch. The worker stays [`Gone`](WorkerState::Gone) until its state is set.
    pub fn vacant(&mut self) -> (usize, Arc<Batch<J>>) {
        let queue = self.find(|queue| queue.worker == WorkerState::Gone).unwrap_or_else(|| {
            let batch = Arc::new(Batch::new());
            let (jobs, behind) = (VecDeque::new(), VecDeque::new());
            self.of_worker.push(Queue { batch, jobs, behind, was_behind: true, worker: WorkerState::Gone });
            self.of_worker.len() - 1
        });
        (queue, self.batch(queue))
    }

    pub fn batch(&self, worker: usize) -> Arc<Batch<J>> {
        Arc::clone(&self.of_worker[worker].batch)
    }

    /// How many jobs the queues hold, without batches.
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// How many jobs have not started, batches included.
    pub fn waiting(&self) -> usize {
        self.of_worker.iter().map(Queue::length).sum()
    }

    /// Calls `each` for each job that has not started, batches included.
    pub fn for_each(&self, mut each: impl FnMut(&J)) {
        for queue in &self.of_worker {
            queue.batch.for_each(&mut each);
            queue.jobs.iter().chain(&queue.behind).for_each(&mut each);
        }
    }

    /// How many jobs of one worker have not started, its batch included.
    pub fn length(&self, queue: usize) -> usize {
        self.of_worker[queue].length()
    }

    /// How many workers are in such a state.
    pub fn count(&self, condition: impl Fn(WorkerState) -> bool) -> usize {
        self.of_worker.iter().filter(|queue| condition(queue.worker)).count()
    }

    /// How many workers have not ended.
    pub fn workers(&self) -> usize {
        self.count(|worker| worker != WorkerState::Gone)
    }

    /// How many workers have not ended and are not blocked in a job.
    pub fn available(&self) -> usize {
        self.count(|worker| !matches!(worker, WorkerState::Gone | WorkerState::Blocked(_)))
    }

    /// Returns the workers that have run their batch for longer than `patience`.
    pub fn suspects(&self, patience: Duration, now: Time) -> Vec<(usize, RunningBatch)> {
        let busy = self.of_worker.iter().enumerate().filter_map(|(number, queue)| match queue.worker {
            WorkerState::Busy(batch) if now.since(batch.since) > patience => Some((number, batch)),
            _ => None,
        });
        busy.collect()
    }

    /// Returns the worker that changes one of these directories, unless it is blocked.
    pub fn changing(&self, changes: Changes) -> Option<usize> {
        let is_able =
            |&worker: &usize| !matches!(self.worker_state(worker), WorkerState::Blocked(_) | WorkerState::Gone);
        self.directories.worker(changes).filter(is_able)
    }

    /// Returns a busy worker that starts one more job soon.
    pub fn soon(&self, pace: &Pace, now: Time) -> Option<usize> {
        self.find(|queue| matches!(queue.worker, WorkerState::Busy(batch) if pace.is_soon(batch, queue.queued(), now)))
    }

    /// Returns whether at most one job is in flight, those of blocked workers not counted.
    pub fn are_quiet(&self) -> bool {
        let is_active = |worker| matches!(worker, WorkerState::Woken | WorkerState::Busy(_));
        self.queued <= 1 && self.count(is_active) <= 1
    }

    /// Returns the woken workers whose next job is such a one.
    pub fn woken_for(&self, condition: impl Fn(&J) -> bool) -> Vec<usize> {
        let woken = self.of_worker.iter().enumerate().filter(|(_, queue)| queue.worker == WorkerState::Woken);
        let waiting = woken.filter(|(_, queue)| queue.jobs.front().or(queue.behind.front()).is_some_and(&condition));
        waiting.map(|(number, _)| number).collect()
    }

    /// Returns whether a worker waits for a job, or is about to, or starts one more soon.
    pub fn is_near(&self, queue: usize, pace: &Pace, now: Time) -> bool {
        match self.of_worker[queue].worker {
            WorkerState::Idle | WorkerState::Woken => true,
            WorkerState::Busy(batch) => pace.is_soon(batch, self.of_worker[queue].queued(), now),
            WorkerState::Blocked(_) | WorkerState::Gone => false,
        }
    }

    /// Returns the first idle worker: the same few are woken again and again, and the others sleep on.
    pub fn idle(&self) -> Option<usize> {
        self.find(|queue| queue.worker == WorkerState::Idle)
    }

    /// Returns the shortest queue of a worker that is not blocked or, if all are, the shortest of theirs. `None` if all have ended.
    pub fn shortest(&self) -> Option<usize> {
        let queues = (0..self.of_worker.len()).filter(|&queue| self.worker_state(queue) != WorkerState::Gone);
        queues.min_by_key(|&queue| (self.worker_state(queue).is_blocked(), self.of_worker[queue].queued()))
    }

    /// Returns a queue of a blocked worker that holds jobs.
    #[cold]
    fn behind_blocked(&self) -> Option<usize> {
        self.find(|queue| queue.worker.is_blocked() && queue.queued() > 0)
    }

    /// Returns the queue with the most jobs that any worker may take.
    fn longest(&self) -> Option<usize> {
        (0..self.of_worker.len()).max_by_key(|&queue| self.of_worker[queue].jobs.len())
    }

    fn find(&self, condition: impl Fn(&Queue<J>) -> bool) -> Option<usize> {
        self.of_worker.iter().position(condition)
    }

    pub fn worker_state(&self, worker: usize) -> WorkerState {
        self.of_worker[worker].worker
    }

    /// Sets a worker's state and returns the one before.
    pub fn set_state(&mut self, worker: usize, state: WorkerState) -> WorkerState {
        let before = std::mem::replace(&mut self.of_worker[worker].worker, state);
        self.blocked = self.blocked + usize::from(state.is_blocked()) - usize::from(before.is_blocked());
        before
    }

    /// Puts a job at the back of a queue and returns the state of its worker.
    pub fn push(&mut self, queue: usize, job: J) -> WorkerState {
        self.queued += 1;
        let is_behind = self.directories.add(job.changes(), queue);
        let queue = &mut self.of_worker[queue];
        if is_behind { &mut queue.behind } else { &mut queue.jobs }.push_back(job);
        queue.worker
    }

    /// Notes that a job with these changes has ended.
    pub fn ended(&mut self, changes: Changes) {
        self.directories.remove(changes);
    }

    /// Has other workers take all jobs of a queue: returns those of its batch to the front.
    pub fn give_back(&mut self, queue: usize) {
        let Queue { batch, jobs, behind, .. } = &mut self.of_worker[queue];
        for job in batch.give_back() {
            jobs.push_front(job);
            self.queued += 1;
        }
        jobs.append(behind);
    }

    /// Empties all queues and batches. Returns each job with the length of its queue after its removal.
    pub fn drain(&mut self) -> Vec<(J, usize)> {
        (0..self.of_worker.len()).for_each(|queue| self.give_back(queue));
        self.queued = 0;
        let Queues { of_worker, directories, .. } = self;
        of_worker.iter().flat_map(|queue| &queue.jobs).for_each(|job| directories.remove(job.changes()));
        let queues = self.of_worker.iter_mut().map(|queue| std::mem::take(&mut queue.jobs));
        queues.flat_map(|jobs| (0..jobs.len()).rev().zip(jobs).map(|(length, job)| (job, length))).collect()
    }

    /// Moves up to `most` jobs into the worker's batch, from the front of one queue: of a blocked worker's, else of its own, else of the
    /// longest one. Of its own jobs behind others of their directory, it takes up to `stretch`, but leaves half: while these run, the tasks
    /// of those taken submit their next ones. Passes each to `note`. Returns how many, and whether they are such.
    pub fn take(&mut self, worker: usize, most: usize, stretch: usize, mut note: impl FnMut(&J)) -> (usize, bool) {
        if self.queued == 0 {
            return (0, false);
        }
        // First: as long as the other workers find jobs in their own queues, nothing else serves these.
        let stuck = if self.blocked == 0 { None } else { self.behind_blocked() };
        let own = || Some(worker).filter(|&queue| self.of_worker[queue].queued() > 0);
        let Some(queue) = stuck.or_else(own).or_else(|| self.longest()) else { return (0, false) };
        let batch = self.batch(worker);
        let taken = &mut self.of_worker[queue];
        let is_behind = (queue == worker || Some(queue) == stuck) && taken.turns();
        let jobs = if is_behind { &mut taken.behind } else { &mut taken.jobs };
        let is_stretch = is_behind && queue == worker;
        let count = if is_stretch { stretch.min(jobs.len().div_ceil(2)) } else { most.min(jobs.len()) };
        for job in jobs.iter().take(count) {
            self.directories.take(job.changes(), worker);
            note(job);
        }
        batch.fill(jobs, count);
        self.queued -= count;
        (count, is_stretch)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// One with a slash changes the directory before it.
    impl Queued for &str {
        fn changes(&self) -> Changes {
            self.split_once('/').map_or(Changes::NONE, |(directory, _)| Changes::of(directory.as_bytes()))
        }
    }

    fn queues(count: usize) -> Queues<&'static str> {
        let mut queues = Queues::new();
        for _ in 0..count {
            let (queue, _) = queues.vacant();
            queues.set_state(queue, WorkerState::Woken);
        }
        queues
    }

    /// Has a worker take up to `most` jobs and returns its batch.
    fn take(queues: &mut Queues<&'static str>, worker: usize, most: usize) -> Vec<&'static str> {
        let mut noted = Vec::new();
        assert_eq!(queues.take(worker, most, 2, |job| noted.push(*job)).0, noted.len());
        let batch = queues.batch(worker);
        let taken: Vec<_> = std::iter::from_fn(|| batch.pop()).collect();
        assert_eq!(taken, noted);
        taken
    }

    #[test]
    fn jobs_in_a_batch_have_not_started() {
        let mut queues = queues(2);
        ["a", "b", "c"].into_iter().for_each(|job| _ = queues.push(0, job));
        assert_eq!(queues.take(0, 2, 2, |_| ()), (2, false));
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
        queues.set_state(2, WorkerState::Idle);
        queues.set_state(1, WorkerState::Idle);
        assert_eq!(queues.idle(), Some(1));
    }

    #[test]
    fn a_worker_that_has_ended_leaves_its_queue_to_the_next() {
        let mut queues = queues(2);
        queues.set_state(0, WorkerState::Gone);
        assert_eq!((queues.workers(), queues.shortest(), queues.vacant().0), (1, Some(1), 0));
        queues.set_state(0, WorkerState::Woken);
        assert_eq!((queues.workers(), queues.vacant().0), (2, 2));
    }

    #[test]
    fn a_blocked_worker_gets_no_jobs() {
        let now = Time::now();
        let mut queues = queues(2);
        let later = now.after(Duration::from_millis(1));
        let batch = |since| RunningBatch { since, jobs: 1 };
        queues.set_state(0, WorkerState::Busy(batch(now)));
        queues.set_state(1, WorkerState::Busy(batch(later)));
        assert_eq!(queues.suspects(Duration::from_micros(500), later), [(0, batch(now))]);
        queues.set_state(0, WorkerState::Blocked(batch(now)));
        assert_eq!((queues.soon(&Pace::quick(), later), queues.available()), (Some(1), 1));
        assert_eq!(queues.suspects(Duration::ZERO, later), []);
    }

    #[test]
    fn at_most_one_job_in_flight_is_quiet() {
        let mut queues = queues(2);
        (0..2).for_each(|queue| _ = queues.set_state(queue, WorkerState::Idle));
        assert!(queues.are_quiet());
        queues.push(0, "first");
        queues.set_state(0, WorkerState::Woken);
        assert!(queues.are_quiet());
        assert_eq!(
            (queues.woken_for(|job| *job == "first"), queues.woken_for(|job| *job == "second")),
            (vec![0], vec![])
        );
        queues.push(0, "second");
        assert!(!queues.are_quiet());
        assert_eq!(take(&mut queues, 0, 2).len(), 2);
        queues.set_state(1, WorkerState::Woken);
        assert!(!queues.are_quiet() && queues.woken_for(|_| true).is_empty());
        queues.set_state(0, WorkerState::Blocked(RunningBatch { since: Time::now(), jobs: 1 }));
        assert!(queues.are_quiet(), "one that is blocked does not count");
    }

    #[test]
    fn only_if_all_workers_are_blocked_one_of_them_gets_jobs() {
        let mut queues = queues(2);
        let blocked = WorkerState::Blocked(RunningBatch { since: Time::now(), jobs: 1 });
        queues.set_state(0, blocked);
        queues.push(1, "longer");
        assert_eq!(queues.shortest(), Some(1));
        queues.set_state(1, blocked);
        assert_eq!(queues.shortest(), Some(0));
    }

    #[test]
    fn jobs_behind_a_blocked_worker_are_taken_first() {
        let mut queues = queues(3);
        queues.push(0, "own");
        queues.push(1, "stuck");
        queues.push(2, "long 1");
        queues.push(2, "long 2");
        queues.set_state(1, WorkerState::Blocked(RunningBatch { since: Time::now(), jobs: 1 }));
        assert_eq!(take(&mut queues, 0, 4), ["stuck"]);
        assert_eq!(take(&mut queues, 0, 4), ["own"]);
        queues.push(0, "own");
        queues.push(1, "not stuck");
        queues.set_state(1, WorkerState::Woken);
        assert_eq!(take(&mut queues, 0, 4), ["own"]);
    }

    #[test]
    fn a_change_of_a_directory_goes_behind_the_others() {
        let mut queues = queues(2);
        queues.push(0, "d/1");
        assert_eq!(queues.changing("d/2".changes()), Some(0));
        queues.push(0, "d/2");
        queues.push(0, "d/3");
        queues.push(0, "other");
        assert_eq!(take(&mut queues, 0, 1), ["d/1"]);
        assert_eq!(take(&mut queues, 1, 4), ["other"], "which any worker may take");
        assert!(take(&mut queues, 1, 4).is_empty());
        queues.push(0, "d/4");
        assert_eq!(
            take(&mut queues, 0, 1),
            ["d/2", "d/3"],
            "one more than half of them, as only this worker may take them"
        );
        assert_eq!(take(&mut queues, 0, 1), ["d/4"]);
        ["d/1", "d/2", "d/3", "d/4"].iter().for_each(|job| queues.ended(job.changes()));
        assert_eq!(queues.changing("d/2".changes()), None);
    }

    #[test]
    fn a_worker_takes_changes_of_a_directory_and_other_jobs_in_turn() {
        let mut queues = queues(1);
        ["d/1", "d/2", "d/3", "a", "b"].into_iter().for_each(|job| _ = queues.push(0, job));
        let taken: Vec<_> = (0..5).flat_map(|_| take(&mut queues, 0, 1)).collect();
        assert_eq!(taken, ["d/1", "d/2", "a", "d/3", "b"]);
    }

    #[test]
    fn changes_behind_a_blocked_worker_are_taken_and_their_directory_follows() {
        let mut queues = queues(2);
        ["d/1", "d/2", "d/3"].into_iter().for_each(|job| _ = queues.push(0, job));
        assert_eq!(take(&mut queues, 0, 1), ["d/1"]);
        queues.set_state(0, WorkerState::Blocked(RunningBatch { since: Time::now(), jobs: 1 }));
        assert_eq!(queues.changing("d/4".changes()), None);
        assert_eq!(take(&mut queues, 1, 1), ["d/2"]);
        assert_eq!(queues.changing("d/4".changes()), Some(1));
        queues.give_back(0);
        assert_eq!(queues.drain(), [("d/3", 0)]);
    }
}
