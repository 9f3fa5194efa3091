//! Errors of trace settings.

use std::io;

use crate::breakpoint::pattern::error::PatternError;
use crate::breakpoint::pattern_id::PatternId;

/// The reason why a trace setting failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The pattern cannot be parsed.
    #[error("cannot parse the pattern: {0}")]
    Pattern(PatternError),
    /// No traced function has such a name and number of arguments.
    #[error("`{pattern}` names none of the {traced} traced functions of this program{}", meant(near))]
    NoFunction {
        /// The pattern.
        pattern: String,
        /// The number of traced functions.
        traced: usize,
        /// Similar names.
        near: Vec<&'static str>,
    },
    /// The session has no pattern with this number.
    #[error(
        "the session has no pattern {id}: it was removed or replaced, or belongs to another session; `Session::info` lists them"
    )]
    NoPattern {
        /// The number.
        id: PatternId,
    },
    /// The calling thread is inside a [`View::with`](crate::code::View::with): the setting would wait for itself.
    #[error(
        "cannot set a pattern inside `code::View::with`: the setting would wait for itself; return from the closure first"
    )]
    InView,
    /// The session has ended: by its limits, a panic of its tracer or a fork.
    #[error("cannot set a pattern: the session is over; start another one")]
    Over,
    /// The system has no thread for the tracer of a meta pattern.
    #[error(
        "cannot start the thread for the tracer of a meta pattern: {0}; free memory or allow more threads (ulimit -u, pids.max)"
    )]
    Tracer(io::Error),
    /// Some functions have the most patterns possible.
    #[error(
        "no room for the pattern at {left} functions, which have {most} patterns already; close sessions that you no longer need"
    )]
    TooManyPatterns {
        /// The most patterns of one function, of all sessions together.
        most: usize,
        /// The number of functions without room for the pattern.
        left: usize,
    },
    /// No counter is free.
    #[error("cannot count at more than {most} functions at once; name fewer, or close sessions that count")]
    TooManyCounters {
        /// The most counters, of all sessions together.
        most: usize,
    },
    /// The pattern has the action `memory`, and the program's allocator does not count.
    #[error(
        "cannot set a pattern with the action `memory`: the program's allocator does not count; make `dyntrace::alloc::Counting` its \
         global allocator"
    )]
    NotCounting,
    /// The most sessions possible have patterns that set or clear flags of processes.
    #[error(
        "cannot set a pattern with the action `set` or `clear`: {most} other sessions have such patterns; close one of them"
    )]
    TooManyFlagging {
        /// The most sessions with such patterns.
        most: usize,
    },
}

impl From<PatternError> for Error {
    fn from(error: PatternError) -> Error {
        Error::Pattern(error)
    }
}

fn meant(near: &[&str]) -> String {
    match near {
        [] => String::new(),
        near => format!("; near it: {}", near.join(", ")),
    }
}
