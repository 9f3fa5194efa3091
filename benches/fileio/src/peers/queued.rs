//! The floor of operations on other threads: one queue, a thread for each core that takes from it, and tokio's channel for the answer. No
//! order of operations, no names, no counts, no probes.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use tokio::sync::oneshot;

use super::elsewhere::Threads;

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    idle: usize,
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    filled: Condvar,
}

pub struct Queued;

impl Threads for Queued {
    async fn call<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
        let (sender, answer) = oneshot::channel();
        // The threads outlive the runtime; its tasks may be dropped before.
        let job = move || drop(sender.send(work()));
        Queue::get().put(Box::new(job));
        answer.await.expect("no operation panics")
    }
}

impl Queue {
    fn get() -> &'static Queue {
        static QUEUE: OnceLock<&'static Queue> = OnceLock::new();
        QUEUE.get_or_init(|| {
            let queue: &'static Queue = Box::leak(Box::default());
            for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
                thread::spawn(|| queue.work());
            }
            queue
        })
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, job: Job) {
        let mut waiting = self.lock();
        waiting.jobs.push_back(job);
        let is_any_idle = waiting.idle > 0;
        drop(waiting);
        if is_any_idle {
            self.filled.notify_one();
        }
    }

    fn work(&self) {
        let mut waiting = self.lock();
        loop {
            while let Some(job) = waiting.jobs.pop_front() {
                drop(waiting);
                job();
                waiting = self.lock();
            }
            waiting.idle += 1;
            waiting = self.filled.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            waiting.idle -= 1;
        }
    }
}
