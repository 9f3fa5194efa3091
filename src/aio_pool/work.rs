//! What a driver gives to the pool, and what can become of it.

use std::io;

use super::lane::Lane;
use crate::sdt::Decision;

/// One piece of blocking work, with what is to be said about it at its end.
pub trait Work: Send + 'static {
    /// What the work results in.
    type Output: Send + 'static;

    /// Which threads it is for; asked when it is submitted.
    fn lane(&self) -> Lane {
        Lane::Fast
    }

    /// Which sessions of the recorder take the probes of its stay in the pool; asked when it is submitted.
    #[doc(hidden)]
    fn taken(&self) -> Decision {
        Decision::ALL
    }

    /// Does the work, on an I/O thread. Called once at most. May block; a panic is caught and fails this work alone, with
    /// [`Fault::Panicked`].
    fn run(&mut self) -> Self::Output;

    /// Is told that `run` has ended, be it by a panic: on the same thread, right after it. A panic in it is caught and goes
    /// no further.
    fn ran(&mut self) {}

    /// Is told what became of the work: exactly once for each one submitted, unless its [`Operation`] is leaked.
    ///
    /// Called
    /// - by the awaiting task, at the moment when it takes the outcome;
    /// - by whoever drops the operation, if that happens before the work runs ([`Fault::Cancelled`]) or after it has run;
    /// - by the I/O thread, if the operation was dropped while the work ran;
    /// - for works without an operation ([`Pool::submit_detached`]), by the I/O thread or by whoever refuses the work.
    ///
    /// It should be short and must not block. A panic in it is caught and goes no further: the outcome stays what it was.
    ///
    /// [`Operation`]: super::Operation
    /// [`Pool::submit_detached`]: super::Pool::submit_detached
    fn settle(&mut self, outcome: Result<&Self::Output, &Fault>);
}

/// Why a work has no output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Its operation was dropped before it ran.
    #[error("the operation was dropped before an I/O thread took it up: nothing was done")]
    Cancelled,
    /// It panicked while it ran: how far it came is not known.
    #[error("the work panicked on its I/O thread; the panic hook (standard error, unless replaced) has the message")]
    Panicked,
    /// The pool was shut down before it ran.
    #[error("the pool of I/O threads was shut down before the work could run: nothing was done")]
    ShutDown,
    /// The pool has no thread yet, and the system gives none.
    #[error(
        "no I/O thread could be started: nothing was done; free memory or allow more threads (ulimit -u, pids.max)"
    )]
    NoThread(#[source] io::Error),
}
