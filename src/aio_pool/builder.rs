//! How a pool is set up.

use std::sync::Arc;
use std::time::Duration;

use super::pool::Pool;
use super::shared::{Settings, Shared, Spawn};
use crate::environment;
use crate::host;
use crate::sync::thread;

/// Settings of a [`Pool`] to be.
pub struct Builder {
    threads: Option<usize>,
    slow_threads: Option<usize>,
    bound: usize,
    keep: Duration,
    exit_timeout: Duration,
    spawn: Box<Spawn>,
}

impl Builder {
    pub(super) fn new() -> Self {
        Builder {
            threads: None,
            slow_threads: None,
            bound: 1024,
            keep: Duration::from_secs(10),
            exit_timeout: Duration::from_secs(10),
            spawn: Box::new(|name, run| match host::is_guest() {
                false => thread::Builder::new().name(name).spawn(run),
                true => {
                    Err(host::refused("an I/O thread", "use std::fs there, or have the program do it by dyntrace::fs"))
                }
            }),
        }
    }

    /// How many threads the fast lane has. They are started as they are needed.
    ///
    /// Not set, it is the environment's `DYNTRACE_IO_THREADS` if that is a number above 0, else the number of processors, but 2
    /// at least.
    ///
    /// With 0 there are no threads at all: [`Pool::run_one`] does the work.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// How many threads there may be beyond those, for works that wait: those of the slow lane, and those that stand in for threads
    /// of the fast lane that were found asleep. The slow lane gets one even with 0.
    ///
    /// Not set, it is the environment's `DYNTRACE_SLOW_THREADS` if that is a number above 0, else 256.
    pub fn slow_threads(mut self, threads: usize) -> Self {
        self.slow_threads = Some(threads);
        self
    }

    /// How long a thread beyond those of the fast lane stays when nothing comes for it: 10 seconds if not set.
    pub fn keep_alive(mut self, duration: Duration) -> Self {
        self.keep = duration;
        self
    }

    /// Sets how long the end of a tokio runtime and the normal exit of the process wait for detached works
    /// ([`Pool::submit_detached`]: of files, the accepted writes and the closes). 10 seconds if not set; 0: they do not wait. If the
    /// time was not enough, standard error says how many are left.
    ///
    /// - A runtime's drop waits for what was submitted in that runtime, `shutdown_timeout` of a `multi_thread` runtime for its
    ///   own time, `shutdown_background` never. `shutdown_timeout` of a `current_thread` runtime does not wait either.
    /// - The return of `main` and [`std::process::exit`] wait for all of the process; a signal, an abort and `_exit` do not. A
    ///   forked child does not wait for its parent's.
    /// - Nobody waits for a pool without threads.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use dyntrace::aio_pool::Pool;
    /// use dyntrace::efile::Driver;
    ///
    /// // Before the first file operation of the program.
    /// let pool = Pool::builder().exit_timeout(Duration::from_secs(60)).build();
    /// assert!(Driver::install(Driver::new(pool)).is_ok());
    /// ```
    pub fn exit_timeout(mut self, duration: Duration) -> Self {
        self.exit_timeout = duration;
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
        let threads = self.threads.or_else(|| from_environment("DYNTRACE_IO_THREADS")).unwrap_or_else(|| {
            let processors = std::thread::available_parallelism().map_or(1, usize::from);
            processors.max(2)
        });
        let extra = self.slow_threads.or_else(|| from_environment("DYNTRACE_SLOW_THREADS")).unwrap_or(256);
        let settings = Settings {
            threads,
            extra,
            bound: self.bound,
            keep: self.keep,
            exit_timeout: self.exit_timeout,
            spawn: self.spawn,
        };
        Pool::new(Arc::new(Shared::new(settings)))
    }

    #[cfg(all(test, not(loom)))]
    pub(super) fn spawn(mut self, spawn: Box<Spawn>) -> Self {
        self.spawn = spawn;
        self
    }
}

fn from_environment(name: &str) -> Option<usize> {
    environment::var(name)?.to_str().and_then(threads_from)
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
