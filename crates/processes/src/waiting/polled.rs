//! Waits of polls for which no future stands, such as those of `AsyncRead`.
//!
//! A wait begins at the first poll that returns pending, and belongs to the process that polls. A caller that gives up tells nobody, so
//! the wait ends with the next event that shows it: a poll that is ready, a poll by another process (tokio wakes only the last one that
//! polled), another operation of the same process in this direction, or the end of the socket.

use std::panic::Location;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use super::future::{Started, Wait, is_watched};
use super::resource::{In, Numbered};
use crate::process::{self, Pid};

/// The wait for one direction of a socket. Threads may poll at the same time; each wait has one beginning and one end.
#[derive(Debug)]
pub struct Polled {
    /// The clock at `process-wait`; 0 without a wait; [`TOLD`] while a thread tells a beginning or an end.
    began: AtomicU64,
    /// The number of the process that waits.
    process: AtomicU64,
    /// The number of its row in the table of tasks; 0 without one.
    row: AtomicU32,
}

const TOLD: u64 = u64::MAX;

impl Polled {
    /// No wait yet.
    pub fn new() -> Polled {
        Polled { began: AtomicU64::new(0), process: AtomicU64::new(0), row: AtomicU32::new(0) }
    }

    /// Notes the answer of a poll.
    #[inline(always)]
    pub fn answered<N: Numbered>(&self, is_ready: bool, on: In<&N>, place: &'static Location<'static>) {
        if is_ready {
            self.ends("ready", on, place);
        } else if is_watched() {
            self.begin(on, place);
        }
    }

    /// Notes that nobody waits any more.
    #[inline(always)]
    pub fn given_up<N: Numbered>(&self, on: In<&N>, place: &'static Location<'static>) {
        self.ends("cancelled", on, place);
    }

    /// Notes that the current process does something else.
    #[inline(always)]
    pub fn left<N: Numbered>(&self, on: In<&N>, place: &'static Location<'static>) {
        if self.began.load(Relaxed) != 0 && self.is_of_current() {
            self.end("cancelled", on, place);
        }
    }

    #[cold]
    fn is_of_current(&self) -> bool {
        self.process.load(Relaxed) == process::current().number()
    }

    /// The wait that began then. The caller has read that with Acquire.
    fn started(&self, began: u64) -> Started {
        Started { process: Pid::numbered(self.process.load(Relaxed)), row: self.row.load(Relaxed), began }
    }

    #[cold]
    #[inline(never)]
    fn begin<N: Numbered>(&self, on: In<&N>, place: &'static Location<'static>) {
        // Acquire: with the Release of `begin`, so that the process read next is that of this wait.
        let began = self.began.load(Acquire);
        if began != 0 {
            if self.is_of_current() {
                if began != TOLD {
                    Wait::go_on(on, place, self.started(began));
                }
                return;
            }
            self.end("cancelled", on, place);
        }
        // Acquire: with the Release that ended the last wait.
        if self.began.compare_exchange(0, TOLD, Acquire, Relaxed).is_ok() {
            let Started { process, row, began } = Wait::start(on, place);
            self.process.store(process.number(), Relaxed);
            self.row.store(row, Relaxed);
            // Release: a thread that ends the wait reads its process and row.
            self.began.store(began, Release);
        }
    }

    #[inline(always)]
    fn ends<N: Numbered>(&self, outcome: &'static str, on: In<&N>, place: &'static Location<'static>) {
        // Relaxed: `end` looks again.
        if self.began.load(Relaxed) != 0 {
            self.end(outcome, on, place);
        }
    }

    #[cold]
    #[inline(never)]
    fn end<N: Numbered>(&self, outcome: &'static str, on: In<&N>, place: &'static Location<'static>) {
        // Acquire: with the Release of `begin`, so that the process read next is that of this wait.
        let began = self.began.load(Acquire);
        if began == 0 || began == TOLD {
            return;
        }
        // Acquire: as above, for another wait that began at the same time.
        if self.began.compare_exchange(began, TOLD, Acquire, Relaxed).is_ok() {
            Wait::finish(on, place, self.started(began), outcome);
            // Release: the next wait's process and row are stored after those of this one were read.
            self.began.store(0, Release);
        }
    }
}
