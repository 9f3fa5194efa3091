//! What a session tells of itself.

use std::time::Duration;

use crate::breakpoint::measure::counters::{Counter, Counts};
use crate::breakpoint::pattern_id::PatternId;
use crate::breakpoint::site::Function;
use crate::breakpoint::state::held_up::HeldUp;
use crate::breakpoint::state::set::Set;
use crate::clock;
use crate::process::Processes;

/// What a session has done so far.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Info {
    /// Its patterns, in the order in which they were set.
    pub patterns: Vec<PatternInfo>,
    /// The processes whose calls it looks at. Those that patterns have flagged are not among them.
    pub processes: Processes,
    /// Events that its tracer was told, or that fired probes.
    pub delivered: u64,
    /// Events that were lost since too many waited for the tracer.
    pub dropped: u64,
    /// Events that were left out since there were too many in a second.
    pub limited: u64,
    /// Whether it has ended: by its limits, by a panic of its tracer, or since it is closed.
    pub is_over: bool,
    /// Who has held up a setting or the removal of its patterns for longest, or holds up whatever is changed in this process now. `None`
    /// if each wait was over within a millisecond, as it is unless a thread loses its processor in the middle of a hit.
    pub held_up: Option<HeldUp>,
}

/// A pattern of a session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PatternInfo {
    /// Its number: no other pattern of this process has the same, also in other sessions.
    pub id: PatternId,
    /// As it was written.
    pub pattern: String,
    /// How many functions it names.
    pub functions: usize,
    /// Whether it is for functions that are loaded later, too: then `functions` are all that it ever named.
    pub is_default: bool,
    /// Whether it is a [meta pattern](crate::trace::Session::set_meta).
    pub is_meta: bool,
}

impl PatternInfo {
    pub(crate) fn of(set: &Set) -> PatternInfo {
        let (pattern, functions) = (set.pattern.to_string(), set.functions());
        PatternInfo { id: set.id, pattern, functions, is_default: set.is_default, is_meta: false }
    }
}

/// What was counted of one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// The function.
    pub function: &'static Function,
    /// Calls that have begun.
    pub calls: u64,
    /// Time from the call to the end, of those that have ended; zero where no pattern wants it.
    pub time: Duration,
    /// Own time of these calls: `time` without the calls inside them that any session times. Asynchronous functions have the time
    /// in which they were polled.
    pub own_time: Duration,
    /// What these calls have allocated. `None` where no pattern wants it.
    pub memory: Option<Memory>,
}

/// What calls of a function have allocated, in bytes: see [`Counting`](crate::alloc::Counting). Calls that have ended count; asynchronous
/// functions with what was allocated while they were polled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Memory {
    /// All of it, from the call to the end.
    pub bytes: u64,
    /// Without what the calls inside them have allocated for which any session wants it: as Erlang's `call_memory` counts.
    pub own_bytes: u64,
}

impl Memory {
    /// The sum of both.
    pub(crate) fn and(self, more: Memory) -> Memory {
        Memory { bytes: self.bytes + more.bytes, own_bytes: self.own_bytes + more.own_bytes }
    }
}

/// Returns the counts of a pattern, by function.
pub(crate) fn counted(set: &Set, read: impl Fn(&Counter) -> Counts) -> Vec<Count> {
    let counted = set.counters().into_iter().map(|(function, counter)| {
        let counts = read(&counter);
        let [time, own_time] = [counts.time, counts.own].map(clock::duration);
        let memory = counts.memory.map(|bytes| Memory { bytes: bytes.all, own_bytes: bytes.own });
        Count { function, calls: counts.calls, time, own_time, memory }
    });
    counted.collect()
}
