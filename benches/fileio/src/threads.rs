//! Work on threads side by side.

use std::io;
use std::thread;

use crate::task::Task;

/// Does `work` with each part on a thread of its own, and returns the number of measured operations.
pub fn side_by_side<Part: Send>(
    parts: impl Iterator<Item = Part>,
    work: impl Fn(Part) -> io::Result<u64> + Sync,
) -> io::Result<u64> {
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no operation panics")).sum()
    })
}

/// Runs as many tasks as there are cores; more would only take turns.
pub fn on_cores(tasks: Vec<Task>, work: fn(Task) -> io::Result<u64>) -> io::Result<u64> {
    let cores = thread::available_parallelism()?.get();
    side_by_side(tasks.into_iter().take(cores), work)
}
