//! The limits of a session, and how much of them is used.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use dyntrace_probes::forks;

/// The limits of a session, which keep tracing from harming the program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The most events that wait for the tracer, about 800 bytes each; further ones are dropped and counted. Events that fire probes
    /// do not wait.
    pub waiting: usize,
    /// The most events in a second; further ones are dropped and counted.
    pub per_second: Option<u32>,
    /// The session ends after this number of events.
    pub events: Option<u64>,
    /// The session ends after this time.
    pub time: Option<Duration>,
}

impl Default for Limits {
    /// At most 1024 waiting events; no other limit.
    fn default() -> Limits {
        Limits { waiting: 1024, per_second: None, events: None, time: None }
    }
}

/// The part of a session that the tracer's thread shares.
pub(crate) struct SessionState {
    pub(crate) limits: Limits,
    pub(crate) begun: Instant,
    /// The number of forks before the session started: a child has no thread for its parent's tracer.
    forks: u64,
    is_over: AtomicBool,
    drops_events: AtomicBool,
    /// The second since `begun` in the upper half, the number of its events in the lower half.
    second: AtomicU64,
    admitted: AtomicU64,
    pub(crate) sent: AtomicU64,
    pub(crate) delivered: AtomicU64,
    /// Dropped because too many waited.
    pub(crate) dropped: AtomicU64,
    /// Dropped because there were too many in a second.
    pub(crate) limited: AtomicU64,
    /// Calls without their ends: too many were nested.
    pub(crate) unended: AtomicU64,
    /// The tracer's thread notifies it after each event.
    pub(crate) all_delivered: Notify,
}

impl SessionState {
    pub(crate) fn new(limits: Limits) -> SessionState {
        SessionState {
            limits,
            begun: Instant::now(),
            forks: forks::so_far(),
            is_over: AtomicBool::new(false),
            drops_events: AtomicBool::new(false),
            second: AtomicU64::new(0),
            admitted: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            delivered: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            limited: AtomicU64::new(0),
            unended: AtomicU64::new(0),
            all_delivered: Notify::new(),
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.is_of_parent()
    }

    /// Returns whether the session was started before the fork that made this process.
    pub(crate) fn is_of_parent(&self) -> bool {
        self.forks != forks::so_far()
    }

    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Discards the events that wait for the tracer.
    pub(crate) fn drop_events(&self) {
        self.drops_events.store(true, Ordering::Relaxed);
    }

    pub(crate) fn drops_events(&self) -> bool {
        self.drops_events.load(Ordering::Relaxed)
    }

    /// Notes a call whose end is neither told nor measured.
    pub(crate) fn note_unended(&self) {
        self.unended.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn admits(&self) -> bool {
        if self.is_over() {
            return false;
        }
        if self.limits.per_second.is_some_and(|most| !self.admits_in_second(most)) {
            self.limited.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        match self.limits.events {
            None => true,
            Some(most) => {
                let before = self.admitted.fetch_add(1, Ordering::Relaxed);
                if before + 1 >= most {
                    self.end();
                }
                before < most
            }
        }
    }

    fn admits_in_second(&self, most: u32) -> bool {
        let now = self.begun.elapsed().as_secs() << 32;
        let next = |word: u64| {
            let count = if word >> 32 == now >> 32 { word & u64::from(u32::MAX) } else { 0 };
            (count < u64::from(most)).then_some(now | (count + 1))
        };
        self.second.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok()
    }
}
