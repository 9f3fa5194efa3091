//! The settings of a pool.

use std::sync::Arc;
use std::time::Duration;

use dyntrace_probes::host;
use dyntrace_probes::primitives::thread;

use super::extra_threads::ExtraThreads;
use super::pool::Pool;
use super::shards::Shards;
use super::shared::{Settings, Spawn};
use dyntrace_processes::environment;

/// Settings for a new [`Pool`].
pub struct Builder {
    threads: Option<usize>,
    slow_threads: Option<usize>,
    bound: usize,
    keep_alive: Duration,
    exit_timeout: Duration,
    spawn: Arc<Spawn>,
}

impl Builder {
    pub(super) fn new() -> Self {
        Builder {
            threads: None,
            slow_threads: None,
            bound: 1024,
            keep_alive: Duration::from_secs(10),
            exit_timeout: Duration::from_secs(10),
            spawn: Arc::new(|name, run| match host::is_guest() {
                false => thread::Builder::new().name(name).spawn(run),
                true => {
                    Err(host::refused("an I/O thread", "use std::fs there, or have the program do it by dyntrace::fs"))
                }
            }),
        }
    }

    /// Sets the number of threads of the fast lane. The pool starts them as it needs them.
    ///
    /// The default is the environment variable `DYNTRACE_IO_THREADS` if that is a number above 0, else the number of processors, at
    /// least 2.
    ///
    /// With 0 the pool has no threads at all: call [`Pool::run_one`] to run jobs. With more than 8 it has
    /// [shards](super#shards).
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Sets the maximum number of extra threads for jobs that wait: threads of the slow lane, and threads that replace blocked ones of
    /// the fast lane. The slow lane gets one thread even with 0.
    ///
    /// The default is the environment variable `DYNTRACE_SLOW_THREADS` if that is a number above 0, else 256.
    pub fn slow_threads(mut self, threads: usize) -> Self {
        self.slow_threads = Some(threads);
        self
    }

    /// Sets how long an extra thread stays without a job. The default is 10 seconds.
    pub fn keep_alive(mut self, duration: Duration) -> Self {
        self.keep_alive = duration;
        self
    }

    /// Sets how long the end of a tokio runtime and the normal exit of the process wait for detached jobs
    /// ([`Pool::submit_detached`]; of files these are accepted writes and closes). The default is 10 seconds; with 0 they do not wait.
    /// If jobs are left after that time, standard error says how many.
    ///
    /// - A runtime's drop waits for the jobs submitted in that runtime. `shutdown_timeout` of a `multi_thread` runtime waits for its
    ///   own time. `shutdown_background`, and `shutdown_timeout` of a `current_thread` runtime, do not wait.
    /// - The return of `main` and [`std::process::exit`] wait for all jobs of the process. A signal, an abort and `_exit` do not wait.
    ///   A forked child does not wait for its parent's jobs.
    /// - Nothing waits for a pool without threads.
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

    /// Sets how many jobs all queues together may hold. The default is 1024; 0 counts as 1. Further operations wait for room, first
    /// come first served. The queues of each [shard](super#shards) may hold an equal part of them.
    pub fn bound(mut self, bound: usize) -> Self {
        self.bound = bound.max(1);
        self
    }

    /// Builds the pool. It starts no thread yet.
    pub fn build(self) -> Pool {
        let threads = self.threads.or_else(|| from_environment("DYNTRACE_IO_THREADS")).unwrap_or_else(|| {
            let processors = std::thread::available_parallelism().map_or(1, usize::from);
            processors.max(2)
        });
        let extra_threads = self.slow_threads.or_else(|| from_environment("DYNTRACE_SLOW_THREADS")).unwrap_or(256);
        let extra = Arc::new(ExtraThreads::new(extra_threads));
        Pool::new(Shards::new(threads, self.bound, |threads, bound| Settings {
            threads,
            extra: Arc::clone(&extra),
            bound,
            keep_alive: self.keep_alive,
            exit_timeout: self.exit_timeout,
            spawn: Arc::clone(&self.spawn),
        }))
    }

    #[cfg(all(test, not(loom)))]
    pub(super) fn spawn(mut self, spawn: Box<Spawn>) -> Self {
        self.spawn = spawn.into();
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
    fn the_environment_variable_must_be_a_number_above_zero() {
        assert_eq!(threads_from("3"), Some(3));
        assert_eq!(threads_from(" 12\n"), Some(12));
        for useless in ["", "0", "-1", "many", "1.5", "99999999999999999999999"] {
            assert_eq!(threads_from(useless), None, "{useless:?}");
        }
    }
}
