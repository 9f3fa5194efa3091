//! The state and the counts of a session, for users.

use std::time::Duration;

use dyntrace_probes::clock;

use crate::breakpoint::measure::counters::{Counter, Counts};
use crate::breakpoint::pattern_id::PatternId;
use crate::breakpoint::site::Function;
use crate::breakpoint::state::held_up::HeldUp;
use crate::breakpoint::state::set_pattern::{Functions, SetPattern, address};
use dyntrace_processes::process::Processes;

/// The state of a session: see [`Session::info`](crate::trace::Session::info).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Info {
    /// Its patterns, in the order in which they were set.
    pub patterns: Vec<PatternInfo>,
    /// The processes whose calls it matches, without those that patterns have flagged.
    pub processes: Processes,
    /// Events that its tracer got, or that fired probes.
    pub delivered: u64,
    /// Events that were dropped because too many waited for the tracer.
    pub dropped: u64,
    /// Events that were dropped because there were too many in a second.
    pub limited: u64,
    /// Calls whose end was neither told nor measured: too many calls around them, whose ends were waited for, ran on their thread. Such a
    /// call has a frame on the stack. At most 512 of them are nested on a thread, and as many in each function that is only timed.
    pub unended: u64,
    /// Whether it has ended: by its limits, by a panic of its tracer, by a fork, or by [`close`](crate::trace::Session::close).
    pub is_over: bool,
    /// The threads that have delayed a change of its patterns for longest, or that delay any change of this process now. `None` if each
    /// wait was over within a millisecond, as it is unless a thread loses its processor in the middle of a hit.
    pub held_up: Option<HeldUp>,
}

/// A pattern of a session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PatternInfo {
    /// Its number, unique among the patterns of all sessions of this process.
    pub id: PatternId,
    /// Its text.
    pub pattern: String,
    /// How many functions it names now, without those of libraries that were unloaded.
    pub functions: usize,
    /// How many functions it names in old versions of [modules](crate::code), which run until their calls have ended; also in versions that
    /// were purged, but stay mapped.
    pub old_functions: usize,
    /// Whether it is for libraries that are loaded later, too.
    pub is_default: bool,
    /// Whether it is a [meta pattern](crate::trace::Session::set_meta).
    pub is_meta: bool,
}

impl PatternInfo {
    pub(crate) fn of(set: &SetPattern) -> PatternInfo {
        let Functions { current: functions, old: old_functions } = set.functions();
        let (id, pattern) = (set.id, set.pattern.to_string());
        PatternInfo { id, pattern, functions, old_functions, is_default: set.is_default, is_meta: false }
    }
}

/// The counts of one function for one pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// The function. Versions of a module that have it at other lines of its source have counts of their own.
    pub function: &'static Function,
    /// Whether the pattern names it now. False for functions that only old versions of modules, libraries that were unloaded, or earlier
    /// patterns with its number have.
    pub is_current: bool,
    /// Calls that have begun.
    pub calls: u64,
    /// Time from the call to the end, summed over the calls that have ended; zero without the action `time`.
    pub time: Duration,
    /// Own time of these calls: `time` without the calls inside them that any session times. For asynchronous functions, the time in
    /// which they were polled.
    pub own_time: Duration,
    /// Memory that these calls have allocated. `None` without the action `memory`.
    pub memory: Option<Memory>,
}

/// Memory that calls of a function have allocated, in bytes: see [`Counting`](crate::alloc::Counting). Includes the calls that have ended;
/// for asynchronous functions, the allocations while they were polled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Memory {
    /// All of it, from the call to the end.
    pub bytes: u64,
    /// Without the calls inside them that any session measures, as Erlang's `call_memory` counts.
    pub own_bytes: u64,
}

impl Memory {
    /// Returns the sum of both.
    pub(crate) fn and(self, more: Memory) -> Memory {
        Memory { bytes: self.bytes + more.bytes, own_bytes: self.own_bytes + more.own_bytes }
    }
}

/// Returns the counts of a pattern, by function.
pub(crate) fn counted(set: &SetPattern, read: impl Fn(&Counter) -> Counts) -> Vec<Count> {
    let current = set.current();
    let counted = set.counters().into_iter().map(|(function, counter)| {
        let is_current = current.contains(&address(function));
        let counts = read(&counter);
        let [time, own_time] = [counts.time, counts.own].map(clock::duration);
        let memory = counts.memory.map(|bytes| Memory { bytes: bytes.all, own_bytes: bytes.own });
        Count { function, is_current, calls: counts.calls, time, own_time, memory }
    });
    counted.collect()
}
