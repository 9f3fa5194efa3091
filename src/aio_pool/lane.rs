//! Which of the pool's threads a work is for.

use std::time::Duration;

use super::pace::WAKE_UP;

/// What a work spends its time on, as far as its driver knows beforehand.
///
/// A wrong answer costs time and nothing else: works that block are found out in the fast lane, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// The processor and what is in memory: few threads serve it, each for many works in a row.
    Fast,
    /// Waiting: for a disk to write, for the network. A thread for each work, up to a limit; they go when nothing comes any more.
    Slow,
}

impl Lane {
    pub(super) const ALL: [Lane; 2] = [Lane::Fast, Lane::Slow];

    /// A thread that sleeps for less in a work does not make another one worth while: in the fast lane it may wait for a lock of the
    /// kernel's, which another thread would wait for, too.
    pub(super) fn nap(self) -> Duration {
        match self {
            Lane::Fast => Duration::from_micros(200),
            Lane::Slow => WAKE_UP,
        }
    }

    /// Its number in `aio_pool-get`.
    pub(super) fn number(self) -> i32 {
        match self {
            Lane::Fast => 1,
            Lane::Slow => 2,
        }
    }

    /// What its threads are called, before their number.
    pub(super) fn threads_name(self) -> &'static str {
        match self {
            Lane::Fast => "dyntrace-io",
            Lane::Slow => "dyntrace-slow",
        }
    }
}
