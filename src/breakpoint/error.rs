//! Why a trace setting was not made.

use std::io;

use crate::breakpoint::pattern::error::PatternError;
use crate::breakpoint::pattern_id::PatternId;

/// Why a trace setting was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is no pattern.
    #[error("reading the pattern: {0}")]
    Pattern(#[from] PatternError),
    /// No function has such a name and number of arguments.
    #[error("`{pattern}` names none of the {traced} traced functions of this program{}", meant(near))]
    NoFunction {
        /// The pattern.
        pattern: String,
        /// How many functions can be named.
        traced: usize,
        /// Names that may have been meant.
        near: Vec<&'static str>,
    },
    /// The session has no pattern of this number.
    #[error(
        "the session has no pattern {id}: it was removed or replaced, or is another session's; `Session::info` lists them"
    )]
    NoPattern {
        /// The number.
        id: PatternId,
    },
    /// The calling thread is inside a [`View::with`](crate::code::View::with), which the setting would wait for.
    #[error(
        "setting a pattern inside `code::View::with`, which the setting would wait for; return from the closure first"
    )]
    InView,
    /// The session has ended: by its limits, a panic of its tracer or a fork.
    #[error("setting a pattern of a session that is over; start another one")]
    Over,
    /// The tracer of a meta pattern gets no thread.
    #[error("starting the tracer of a meta pattern: {0}")]
    Tracer(#[source] io::Error),
    /// Some functions have as many patterns as they can have.
    #[error(
        "{left} functions have {most} patterns already; close sessions that are needed no more (the others are set)"
    )]
    TooManyPatterns {
        /// How many a function can have, those of all sessions.
        most: usize,
        /// How many functions the pattern is not set at.
        left: usize,
    },
    /// There are as many counters as there can be.
    #[error("counting at more than {most} functions at once; name fewer, or close sessions that count")]
    TooManyCounters {
        /// How many there can be, of all sessions.
        most: usize,
    },
    /// The pattern has the action `memory`, and the program's allocator does not count.
    #[error(
        "setting a pattern with the action `memory` in a program whose allocator does not count; make `dyntrace::alloc::Counting` its \
         global allocator"
    )]
    NotCounting,
    /// As many sessions as can be have patterns that set or clear flags of processes.
    #[error(
        "setting a pattern with the action `set` or `clear`, which {most} other sessions have already; close one of them"
    )]
    TooManyFlagging {
        /// How many sessions can have such patterns.
        most: usize,
    },
}

fn meant(near: &[&str]) -> String {
    match near {
        [] => String::new(),
        near => format!("; near it: {}", near.join(", ")),
    }
}
