//! Memory that calls allocate, as the program's allocator counts it for each thread ([`alloc`](crate::alloc)): all of it, and a call's
//! own memory, without the measured calls inside it. A call is measured if any session has the action `memory` for it.
//!
//! The steps are those of [`own_time`](super::own_time), with bytes for cycles.

use std::cell::Cell;

use super::host::HOST;
use crate::alloc;

thread_local! {
    /// Bytes of measured calls that have ended inside the innermost running one.
    static INNER: Cell<u64> = const { Cell::new(0) };
}

/// Memory that calls have allocated, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bytes {
    pub(crate) all: u64,
    pub(crate) own: u64,
}

impl Bytes {
    pub(crate) fn and(self, more: Bytes) -> Bytes {
        Bytes { all: self.all.wrapping_add(more.all), own: self.own.wrapping_add(more.own) }
    }

    pub(crate) fn since(self, before: Bytes) -> Bytes {
        Bytes { all: self.all.wrapping_sub(before.all), own: self.own.wrapping_sub(before.own) }
    }
}

/// The state of a call's memory measurement.
#[derive(Clone, Copy)]
pub(crate) enum Allocating {
    /// No session asks for it.
    Unasked,
    /// A synchronous call is running.
    Since(Stretch),
    /// An asynchronous call has allocated this in its polls so far.
    InPolls(Bytes),
}

impl Allocating {
    pub(crate) fn end(self) -> Bytes {
        match self {
            Allocating::Unasked => Bytes::default(),
            Allocating::Since(stretch) => stretch.end(),
            Allocating::InPolls(bytes) => bytes,
        }
    }
}

/// A running call or poll.
#[derive(Clone, Copy)]
pub(crate) struct Stretch {
    /// The bytes that the thread had allocated at the beginning.
    began: u64,
    /// The saved counter of the call around it.
    outer: u64,
}

impl Stretch {
    pub(crate) fn begin() -> Stretch {
        Stretch { began: allocated(), outer: exchange(0) }
    }

    pub(crate) fn end(self) -> Bytes {
        let all = allocated().wrapping_sub(self.began);
        // Saturating: a signal handler may have allocated during the exchange.
        let own = all.saturating_sub(exchange(self.outer.saturating_add(all)));
        Bytes { all, own }
    }
}

/// Returns the bytes that this thread has allocated. A module allocates from its host, which counts.
fn allocated() -> u64 {
    match HOST.get() {
        None => alloc::allocated(),
        Some(host) => (host.allocated)(),
    }
}

/// Sets the thread's counter and returns the old value. A module uses the counter of its host.
fn exchange(next: u64) -> u64 {
    match HOST.get() {
        None => exchange_own(next),
        Some(host) => (host.inner_memory)(next),
    }
}

pub(crate) fn exchange_own(next: u64) -> u64 {
    INNER.replace(next)
}
