//! One source: plans its next range, and writes the ranges that are not done.

use std::path::Path;

use dyntrace_fleet::{Error, LAYOUT, Ledger, Loss, Plan, Range, Tables};
use dyntrace_reader::{Clock, Process, RINGS, Trace};

use super::rows::Rows;
use super::tables::Schemas;
use super::{losses, name};

/// How a source was converted.
pub struct Converted {
    /// Its ranges that this run has written, and those that were done.
    pub new: usize,
    pub done: usize,
    /// Whether nothing follows.
    pub is_last: bool,
    /// Operations, tasks and waits that get their rows later; `None` if nothing was written, or nothing follows.
    pub in_flight: Option<[usize; 3]>,
    pub losses: Vec<Loss>,
    /// Whether it has circular files, whose events are in its last range only.
    pub has_rings: bool,
}

/// The state of a source before its trace is opened to be converted.
#[derive(Default)]
pub struct SourceState {
    /// The ranges that are planned or written.
    pub ranges: Vec<Range>,
    /// An earlier look at its events, unless nothing follows its ranges.
    pub look: Option<Look>,
}

/// A look at the events of a source.
///
/// While a program runs, the files of a trace are not read at one time. A range up to the ends of all files could have an event without the
/// earlier event of another thread that caused it. So a look finds the latest time, and then the trace is opened again: now the events up to
/// that time are there with all that caused them.
pub struct Look {
    /// The clock of `until`.
    clock: Clock,
    /// The time of the latest event.
    until: Option<i64>,
    /// Whether the recording has ended.
    is_ended: bool,
}

impl Look {
    pub fn at(trace: &Trace, process: &Process) -> Look {
        let mut look = Look { clock: process.clock.clone(), until: None, is_ended: false };
        for event in trace.parts(process).part(|_file| u64::MAX) {
            look.until = look.until.max(Some(event.time));
            look.is_ended |= event.class.name == "recorder:end";
        }
        look
    }
}

/// Converts the source with this index, whose state `known` was read before the trace was opened. `None` if another converter has proposed
/// a range meanwhile, which may have more than this trace: then the trace must be opened again.
pub fn convert(
    trace: &mut Trace,
    index: usize,
    ledger: &Ledger,
    known: SourceState,
    schemas: &Schemas,
    is_final: bool,
) -> Result<Option<Converted>, Error> {
    let SourceState { mut ranges, look } = known;
    if let Some(look) = look {
        // `look.until` is a time of this clock.
        trace.set_clock(index, look.clock.clone());
        let last = ranges.last().map(|range| &range.plan);
        if let Some(plan) = next(trace, &trace.processes()[index], last, &look, is_final) {
            let number = ranges.len();
            if !ledger.propose(number, &plan)? {
                return Ok(None);
            }
            ranges = ledger.ranges()?;
            // Another converter may have proposed further ones.
            ranges.truncate(number + 1);
        }
    }
    let mut converted = Converted {
        new: ranges.iter().filter(|range| !range.is_done).count(),
        done: ranges.iter().filter(|range| range.is_done).count(),
        is_last: ranges.last().is_some_and(|range| range.plan.is_last),
        in_flight: None,
        losses: ranges.last().map(|range| range.plan.losses.clone()).unwrap_or_default(),
        has_rings: trace.parts(&trace.processes()[index]).ends().any(|(file, _)| is_ring(file)),
    };
    for number in (0..ranges.len()).filter(|&number| !ranges[number].is_done) {
        let Plan { frequency, offset_seconds, offset_cycles, .. } = ranges[number].plan;
        let name = trace.processes()[index].clock.name.clone();
        if let Some(clock) = Clock::new(name, frequency, offset_seconds, offset_cycles) {
            trace.set_clock(index, clock);
        }
        let in_flight = write(trace, &trace.processes()[index], ledger, &ranges[..=number], schemas)?;
        converted.in_flight = Some(in_flight).filter(|_| !converted.is_last);
    }
    Ok(Some(converted))
}

/// Writes the last of these ranges. Reads those before it, too, whose operations and tasks may end in it. Returns how many operations, tasks
/// and waits are in flight at its end.
fn write(
    trace: &Trace,
    process: &Process,
    ledger: &Ledger,
    ranges: &[Range],
    schemas: &Schemas,
) -> Result<[usize; 3], Error> {
    let mut parts = trace.parts(process);
    let mut rows = Rows::default();
    let mut before: Option<&Plan> = None;
    for (number, Range { plan, .. }) in ranges.iter().enumerate() {
        let events = parts.part(|file| plan.ends.get(&key(process, file)).copied().unwrap_or(0));
        if number + 1 < ranges.len() {
            events.try_for_each(|event| rows.push(&event, None))?;
            rows.end(plan, before, process, None)?;
        } else {
            let mut tables = Tables::new(ledger, number, &process.hostname, schemas);
            events.try_for_each(|event| rows.push(&event, Some(&mut tables)))?;
            rows.end(plan, before, process, Some(&mut tables))?;
            ledger.settle(number, tables.finish()?)?;
        }
        before = Some(plan);
    }
    Ok(rows.in_flight())
}

/// Plans the range after `last`, up to the time that the `look` has seen; `None` if there is nothing new.
fn next(trace: &Trace, process: &Process, last: Option<&Plan>, look: &Look, is_final: bool) -> Option<Plan> {
    let mut parts = trace.parts(process);
    let is_last = is_final || look.is_ended;
    let mut until = last.map(|last| last.until);
    // A circular file that changes has no offsets which a later run finds again.
    let events = parts.part(|file| if is_last || !is_ring(file) { u64::MAX } else { 0 });
    while let Some(time) = events.peek().map(|event| event.time).filter(|time| is_last || Some(*time) <= look.until) {
        until = until.max(Some(time));
        events.next();
    }
    let mut ends = last.map(|last| last.ends.clone()).unwrap_or_default();
    for (file, end) in parts.ends().filter(|(_, end)| *end > 0) {
        let known = ends.entry(key(process, file)).or_insert(0);
        *known = end.max(*known);
    }
    // The losses are known at the ends of the files.
    parts.part(|_file| u64::MAX).for_each(drop);
    let plan = Plan {
        layout: LAYOUT,
        hostname: process.hostname.clone(),
        program: process.name.clone(),
        pid: process.pid,
        frequency: process.clock.frequency,
        offset_seconds: process.clock.offset_seconds,
        offset_cycles: process.clock.offset_cycles,
        is_last,
        until: until.unwrap_or_else(|| process.clock.time(0)),
        ends,
        losses: losses::of(trace, process),
    };
    let (known_ends, known_losses) = last.map(|last| (last.ends.clone(), last.losses.clone())).unwrap_or_default();
    (plan.is_last || plan.ends != known_ends || plan.losses != known_losses).then_some(plan)
}

fn is_ring(file: &Path) -> bool {
    file.parent().is_some_and(|folder| folder.ends_with(RINGS))
}

/// The name of a file in a plan.
fn key(process: &Process, file: &Path) -> String {
    name(file.strip_prefix(&process.path).unwrap_or(file).as_os_str().as_encoded_bytes())
}
