//! What a worker has taken out of its queue and not begun.
//!
//! Short works are taken several at once, so that the pool's lock, which whoever submits takes as well, is taken once for all of them.
//! The hand has a lock of its own, in a line of memory that stays with the worker. Others take that lock only to give back what it holds:
//! whoever finds the worker asleep, or shuts the pool down, under the pool's lock. A worker fills its hand under the pool's lock,
//! too.

use std::collections::VecDeque;

use crate::sync::{Mutex, lock};

pub(super) struct Hand<J>(Mutex<VecDeque<J>>);

impl<J> Hand<J> {
    pub fn new() -> Self {
        Hand(Mutex::new(VecDeque::new()))
    }

    pub fn pop(&self) -> Option<J> {
        lock(&self.0).pop_front()
    }

    /// Takes the first so many, to come after what it holds.
    pub fn fill(&self, jobs: &mut VecDeque<J>, count: usize) {
        let mut hand = lock(&self.0);
        match count == jobs.len() {
            true => hand.append(jobs),
            false => hand.extend(jobs.drain(..count)),
        }
    }

    /// Takes all, the last first: as they are put back before others.
    pub fn give_back(&self) -> impl Iterator<Item = J> + use<J> {
        std::mem::take(&mut *lock(&self.0)).into_iter().rev()
    }

    pub fn length(&self) -> usize {
        lock(&self.0).len()
    }
}

#[cfg(all(test, loom))]
mod models {
    use std::sync::Arc;

    use super::*;
    use crate::sync::thread;

    /// A worker takes one job after the other while another thread has it give them back: each goes one way, and stays in order.
    #[test]
    fn loom_hand_each_job_goes_one_way() {
        loom::model(|| {
            let hand = Arc::new(Hand::new());
            hand.fill(&mut VecDeque::from([1, 2, 3]), 3);
            let other = Arc::clone(&hand);
            let given_back = thread::spawn(move || other.give_back().collect::<Vec<_>>());
            let mut taken: Vec<_> = std::iter::from_fn(|| hand.pop()).collect();
            taken.extend(given_back.join().unwrap().into_iter().rev());
            assert_eq!(taken, [1, 2, 3]);
        });
    }
}
