//! How a pool is set up.

use std::env;
use std::sync::Arc;

use super::pool::Pool;
use super::shared::{Shared, Spawn};
use crate::sync::thread;

/// Settings of a [`Pool`] to be.
pub struct Builder {
    threads: Option<usize>,
    bound: usize,
    spawn: Box<Spawn>,
}

impl Builder {
    pub(super) fn new() -> Self {
        Builder {
            threads: None,
            bound: 1024,
            spawn: Box::new(|name, run| thread::Builder::new().name(name).spawn(run)),
        }
    }

    /// How many I/O threads the pool may have. They are started as they are needed: while one is idle, no further one.
    ///
    /// Not set, it is the environment's `DYNTRACE_IO_THREADS` if that is a number above 0, else twice the number of
    /// processors, but 4 at least.
    ///
    /// With 0 there are no threads: [`Pool::run_one`] does the work.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// How many jobs may stand in all queues together: 1024 if not set; 0 counts as 1. Further ones wait in line before
    /// the queues.
    pub fn bound(mut self, bound: usize) -> Self {
        self.bound = bound.max(1);
        self
    }

    /// Makes the pool. It has no thread yet.
    pub fn build(self) -> Pool {
        let threads = self.threads.unwrap_or_else(default_threads);
        Pool::new(Arc::new(Shared::new(threads, self.bound, self.spawn)))
    }

    #[cfg(all(test, not(loom)))]
    pub(super) fn spawn(mut self, spawn: Box<Spawn>) -> Self {
        self.spawn = spawn;
        self
    }
}

fn default_threads() -> usize {
    env::var("DYNTRACE_IO_THREADS").ok().and_then(|text| threads_from(&text)).unwrap_or_else(|| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        (2 * processors).max(4)
    })
}

fn threads_from(text: &str) -> Option<usize> {
    text.trim().parse().ok().filter(|&threads| threads > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_counts_if_it_is_a_number_above_zero() {
        assert_eq!(threads_from("3"), Some(3));
        assert_eq!(threads_from(" 12\n"), Some(12));
        for useless in ["", "0", "-1", "many", "1.5", "99999999999999999999999"] {
            assert_eq!(threads_from(useless), None, "{useless:?}");
        }
    }
}
