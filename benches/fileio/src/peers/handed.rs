//! std's functions on a thread that another one orders and waits for. Each wakes the other, and nothing else lies between them: what an
//! operation costs that another thread makes, where each thread sleeps while it waits.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::{self, Thread};

use super::std_sync;
use crate::task::Task;
use crate::threads::side_by_side;

/// The states of a task: made, ordered, and over.
const MADE: u8 = 0;
const ORDERED: u8 = 1;
const OVER: u8 = 2;

/// Runs each task on a thread for which another one waits.
pub fn run(tasks: Vec<Task>) -> io::Result<u64> {
    side_by_side(tasks.into_iter(), work)
}

fn work(mut task: Task) -> io::Result<u64> {
    let state = Arc::new(AtomicU8::new(MADE));
    let caller = thread::current();
    let (seen, woken) = (Arc::clone(&state), caller.clone());
    task.before_each(move || tell_and_wait(&seen, &woken));
    let seen = Arc::clone(&state);
    let worker = thread::spawn(move || {
        let done = std_sync::work(task);
        seen.store(OVER, Ordering::Release);
        caller.unpark();
        done
    });
    while state.compare_exchange(MADE, ORDERED, Ordering::AcqRel, Ordering::Acquire) != Err(OVER) {
        worker.thread().unpark();
        while state.load(Ordering::Acquire) == ORDERED {
            thread::park();
        }
    }
    worker.join().expect("no operation panics")
}

/// Tells the caller that the operation before has been made, and waits for its order of the next one.
fn tell_and_wait(state: &AtomicU8, caller: &Thread) {
    state.store(MADE, Ordering::Release);
    caller.unpark();
    while state.load(Ordering::Acquire) == MADE {
        thread::park();
    }
}
