//! One thread for the changes of one directory: a hint for the choice of a worker, never for correctness.
//!
//! The kernel changes a directory under one lock. Two threads that change the same one wait for each other and pay twice the CPU time: one
//! thread alone renames as much in a second. So:
//!
//! 1. A job has up to two [numbers](Changes) of directories that it changes. While none of a directory's jobs is queued or runs, the next
//!    one goes to any worker.
//! 2. That worker changes the directory until the last of these jobs has ended. Jobs that come meanwhile go behind them, where other workers
//!    do not take them.
//! 3. A worker that takes a job out of another one's queue changes the job's directories from then on.
//! 4. A worker that is blocked in a job changes nothing: the watchdog lets the others take the jobs behind it, and further jobs of its
//!    directories go to any worker. So a directory that blocks holds up no other one.
//!
//! A number stands for a path, not for a directory: to know the directory would take a system call. So two paths to one directory may have
//! two workers, and two directories may share a number and then a worker. Both cost time only.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;

/// Which directories a job changes: two numbers, with 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes([u8; 2]);

impl Changes {
    /// A job that changes no directory.
    pub const NONE: Changes = Changes([0; 2]);

    /// A job that changes the directory of this path.
    pub fn of(directory: &[u8]) -> Changes {
        Changes([number(directory), 0])
    }

    /// A job that changes both.
    pub fn of_both(first: &[u8], second: &[u8]) -> Changes {
        Changes([number(first), number(second)])
    }

    /// Returns one of the numbers.
    pub(super) fn any(self) -> Option<usize> {
        self.numbers().next()
    }

    /// Returns each number once.
    fn numbers(self) -> impl Iterator<Item = usize> {
        let Changes([first, second]) = self;
        [first, if second == first { 0 } else { second }].into_iter().filter(|&number| number > 0).map(usize::from)
    }
}

fn number(directory: &[u8]) -> u8 {
    let mut hasher = DefaultHasher::new();
    hasher.write(directory);
    (hasher.finish() % 255) as u8 + 1
}

/// The workers that change directories now. Plain data under the pool's lock.
#[derive(Default)]
pub(super) struct Directories {
    /// By number. Empty until a job changes a directory.
    changed: Vec<Changed>,
}

#[derive(Clone, Copy, Default)]
struct Changed {
    /// Jobs that are queued or run.
    jobs: usize,
    worker: usize,
}

impl Directories {
    /// Returns the worker that changes one of these directories now.
    pub fn worker(&self, changes: Changes) -> Option<usize> {
        let changed = changes.numbers().filter_map(|number| self.changed.get(number));
        changed.filter(|changed| changed.jobs > 0).map(|changed| changed.worker).next()
    }

    /// Adds a job that is queued for `worker`. Returns whether that one changes one of its directories already.
    pub fn add(&mut self, changes: Changes, worker: usize) -> bool {
        if changes == Changes::NONE {
            return false;
        }
        self.changed.resize(256, Changed::default());
        let mut is_behind = false;
        for number in changes.numbers() {
            let changed = &mut self.changed[number];
            match changed.jobs {
                0 => changed.worker = worker,
                _ => is_behind |= changed.worker == worker,
            }
            changed.jobs += 1;
        }
        is_behind
    }

    /// Step 3: `worker` has taken a job.
    pub fn take(&mut self, changes: Changes, worker: usize) {
        changes.numbers().for_each(|number| self.changed[number].worker = worker);
    }

    /// Removes a job that has ended.
    pub fn remove(&mut self, changes: Changes) {
        changes.numbers().for_each(|number| self.changed[number].jobs -= 1);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_directory_has_a_worker_until_its_last_job_has_ended() {
        let mut directories = Directories::default();
        let (here, there) = (Changes::of(b"/here"), Changes::of(b"/there"));
        assert_eq!(directories.worker(here), None);
        assert!(!directories.add(here, 1) && directories.add(here, 1));
        assert_eq!((directories.worker(here), directories.worker(there)), (Some(1), None));
        assert!(!directories.add(here, 0), "another worker got it");
        directories.take(here, 0);
        assert_eq!(directories.worker(here), Some(0));
        (0..3).for_each(|_| directories.remove(here));
        assert_eq!(directories.worker(here), None);
    }

    #[test]
    fn a_rename_between_directories_goes_behind_jobs_of_either() {
        let mut directories = Directories::default();
        let (here, there) = (Changes::of(b"/here"), Changes::of(b"/there"));
        let both = Changes::of_both(b"/here", b"/there");
        directories.add(there, 2);
        assert_eq!(directories.worker(both), Some(2));
        assert!(directories.add(both, 2));
        assert_eq!(directories.worker(here), Some(2));
        directories.remove(there);
        directories.remove(both);
        assert_eq!(directories.worker(both), None);
    }

    #[test]
    fn a_rename_within_a_directory_is_one_job_of_it() {
        let mut directories = Directories::default();
        let within = Changes::of_both(b"/here", b"/here");
        directories.add(within, 0);
        directories.remove(within);
        assert_eq!(directories.worker(Changes::of(b"/here")), None);
    }
}
