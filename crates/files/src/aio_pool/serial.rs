//! Callers that make one operation after the other: their jobs run on the caller's own processor.
//!
//! A thread that is woken on another, idle processor waits for an interrupt and for the end of that processor's sleep, and so does the caller
//! when the thread wakes it: 20 to 50 us in a virtual machine, where the operation itself takes 5. A thread that may only run where its
//! caller runs takes the processor that the caller leaves. So a job of a serial caller goes to a worker that is *bound*:
//!
//! 1. A caller is a task or, outside of one, a thread that is in a runtime. It is serial when its last submissions followed each other, with
//!    no job of another caller between them and no more than two of its own in flight.
//! 2. Its next job goes to an idle worker, which the submitting thread binds to its own processor first. A worker stays bound: a caller that
//!    stays on its processor binds it once.
//! 3. A worker that is idle, or takes a job, is released before it gets a job that is not of a serial caller. So what others submit runs on
//!    any processor, and code of others, which may start threads, does not run on a bound worker.
//! 4. A worker that finds itself on another processor than its own was moved by the system (the processor was switched off, or the user chose
//!    others). The next job binds it again.
//! 5. A caller that computes on may keep the processor from the worker. The watchdog has another worker take the job, and the caller must
//!    be serial for twice as long before the next one.
//!
//! A worker is bound only to processors that the watchdog may use, which nothing binds, and released to those.

use std::time::Duration;

use dyntrace_processes::process;
use tokio::runtime::Handle;
use tokio::task;

/// A job of a serial caller that starts later than this was kept from its processor.
pub(super) const LATE: Duration = Duration::from_micros(50);

/// Jobs that take longer save little by a local start, and a caller that computes on would wait for them longer than it gains.
pub(super) const LONG: Duration = Duration::from_micros(100);

/// How many submissions make a caller serial: at first, and at most.
const FEWEST: u32 = 16;
const MOST: u32 = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    Task(task::Id),
    Thread(i32),
}

impl Caller {
    /// Returns the current caller; `None` outside of runtimes.
    pub fn current() -> Option<Caller> {
        if cfg!(any(loom, miri)) {
            return None;
        }
        let thread = || Handle::try_current().is_ok().then(|| Caller::Thread(process::thread_number()));
        task::try_id().map(Caller::Task).or_else(thread)
    }
}

/// The caller of a shard's last submissions. Plain data under the pool's lock.
pub(super) struct Serial {
    caller: Option<Caller>,
    /// How many submissions of the caller followed each other.
    submissions: u32,
    /// How many of them make a caller serial.
    needed: u32,
}

impl Serial {
    pub fn new() -> Serial {
        Serial { caller: None, submissions: 0, needed: FEWEST }
    }

    /// Step 1: notes a submission. `is_quiet`: at most one other job is in flight. Returns whether the caller is serial.
    pub fn submits(&mut self, caller: Caller, is_quiet: bool) -> bool {
        if is_quiet && self.caller == Some(caller) {
            self.submissions += 1;
            if self.submissions == self.needed.saturating_mul(16) {
                (self.submissions, self.needed) = (FEWEST, FEWEST);
            }
            return self.submissions >= self.needed;
        }
        if !is_quiet && self.submissions >= self.needed {
            self.double();
        }
        (self.caller, self.submissions) = (Some(caller), 0);
        false
    }

    /// Step 5.
    pub fn was_late(&mut self) {
        self.double();
        self.submissions = 0;
    }

    fn double(&mut self) {
        self.needed = (self.needed * 2).min(MOST);
    }
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use super::*;

    const ONE: Caller = Caller::Thread(1);
    const OTHER: Caller = Caller::Thread(2);

    /// Returns how many quiet submissions make the caller serial.
    fn needed(serial: &mut Serial, caller: Caller) -> usize {
        (1..).find(|_| serial.submits(caller, true)).unwrap()
    }

    #[test]
    fn a_caller_is_serial_after_some_submissions_until_another_comes() {
        let mut serial = Serial::new();
        assert_eq!(needed(&mut serial, ONE), 17);
        assert!((0..1000).all(|_| serial.submits(ONE, true)));
        assert!(!serial.submits(OTHER, true) && !serial.submits(ONE, true));
        assert_eq!(needed(&mut serial, ONE), 16);
    }

    #[test]
    fn callers_in_turn_are_not_serial() {
        let mut serial = Serial::new();
        assert!((0..1000).all(|_| !serial.submits(ONE, true) && !serial.submits(OTHER, true)));
    }

    #[test]
    fn a_caller_with_several_in_flight_needs_more_each_time() {
        let mut serial = Serial::new();
        for wanted in [17, 32, 64, 128] {
            assert_eq!(needed(&mut serial, ONE), wanted);
            assert!(!serial.submits(ONE, false));
        }
        serial.was_late();
        assert_eq!(needed(&mut serial, ONE), 512);
        assert!((0..512 * 16).all(|_| serial.submits(ONE, true)));
        assert!(!serial.submits(OTHER, true));
        assert_eq!(needed(&mut serial, OTHER), 16, "it was serial for long");
    }

    #[tokio::test]
    async fn each_task_is_a_caller_and_so_is_a_thread_in_a_runtime() {
        let here = Caller::current();
        assert!(matches!(here, Some(Caller::Thread(_))));
        let spawned = tokio::spawn(async { Caller::current() }).await.unwrap();
        assert!(
            matches!(spawned, Some(Caller::Task(_)))
                && spawned != tokio::spawn(async { Caller::current() }).await.unwrap()
        );
        assert_eq!(std::thread::spawn(Caller::current).join().unwrap(), None);
    }
}
