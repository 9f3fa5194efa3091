//! The lanes of a pool.

use std::time::Duration;

use super::pace::WAKE_UP;

/// Where a job spends its time, as far as its driver knows beforehand.
///
/// A wrong lane costs time only: the pool also finds jobs that block in the fast lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// For jobs that need only the processor and memory. Few threads, each of which runs many jobs in a row.
    Fast,
    /// For jobs that wait: for a disk write, for the network. One thread per job, up to a limit; idle threads end.
    Slow,
}

impl Lane {
    pub(super) const ALL: [Lane; 2] = [Lane::Fast, Lane::Slow];

    /// A job that blocks its thread for less does not justify another thread. In the fast lane it may wait for a kernel lock, for
    /// which another thread would wait, too.
    pub(super) fn tolerated_block(self) -> Duration {
        match self {
            Lane::Fast => Duration::from_micros(200),
            Lane::Slow => WAKE_UP,
        }
    }

    /// The lane's number in `aio_pool-get`.
    pub(super) fn number(self) -> i32 {
        match self {
            Lane::Fast => 1,
            Lane::Slow => 2,
        }
    }

    /// The names of its threads, before the thread's number.
    pub(super) fn threads_name(self) -> &'static str {
        match self {
            Lane::Fast => "dyntrace-io",
            Lane::Slow => "dyntrace-slow",
        }
    }
}
