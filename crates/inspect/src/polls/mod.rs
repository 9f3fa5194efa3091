//! `dyntrace polls`: the polls of a running tokio program, counted by a tracer.

mod counts;
mod own;
pub mod script;
mod summary;
mod text;
mod times;
mod trace;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use dyntrace_analysis::losses;
use dyntrace_analysis::view::time;
use dyntrace_programs::process;
use dyntrace_runs::run::bpftrace;
use dyntrace_tasks::polls::Polls;
use dyntrace_tasks::program::{Options, Program};
use dyntrace_tasks::reading::{DebugInformation, Described};
use dyntrace_terminal::exit::{self, Failure, Outcome};
use dyntrace_terminal::{escape, say, stdout};
use serde::Serialize;

use super::look::{VERSION, print};
use super::looks::Looks;
use super::read::failure;
use super::words::counted;
use own::OwnFunctions;
use script::Subject;
use summary::Summary;
use trace::Trace;

const HELP: &str = "\
Examples:
  sudo dyntrace polls -p 4711
  sudo dyntrace polls -p 4711 --for 1m --slow 10ms
  sudo dyntrace polls -p 4711 --json | jq '.functions[] | select(.poll.p99 > 1000000)'

A row for each function whose tasks were polled, the busiest first. Before a framework's stand
the program's own functions that looks at its tasks saw in them. BUSY is the sum of its
polls; P50 and P99 are exact to an eighth, all other numbers are exact. A percentile is - if
polls that it leaves out could change it. WOKEN is the number of polls whose wake was seen, and
WAIT the time from that wake to the poll: the first wake, if there are several. The first poll
of a task has no wake. Below, WAKES are counted by the task that the waking thread polled;
outside of tasks are timers, sockets, block_on and other threads. A wake of a task that is
awake already is not counted, and neither is an abort; two threads that wake a task at the same
time both count. A task that polls others, as with a LocalSet, is busy while they are. A job of
the blocking pool has one poll, which may take long. A poll that had begun before the count is
not seen, one that has not ended is listed. Futures of block_on are no tasks.

The count needs bpftrace 0.17 or newer, and root. It slows the program down: by 7 us for a poll
with a wake, and by 12 us more for each wake through a function that begins with an instruction
which the kernel must single-step (measured with an optimised program on a virtual machine with
two busy cores). Times of polls include these. At the end bpftrace needs 0.2 s for each function
that polls to remove its probes; the program runs on meanwhile.

Exit status:
   0  the polls were counted
   1  the program cannot be read
   2  wrong use
   3  polls, wakes or lines of slow polls were lost, or the percentiles leave out polls
   5  no poll was seen, and those of some tasks could not be (a line says which), or the program's tokio has another layout than the
      versions that the reader knows
  65  there is no such process, or it is no tokio program
  69  bpftrace cannot be used: not installed, too old, or no permission
  70  bpftrace failed";

/// Of a program whose functions that wake have no symbols.
pub const NO_WAKERS: &str =
    "no symbols tell where tasks are woken: wakes of a task that is being polled are not counted";

/// Count the polls of a running tokio program: how long they take, how long woken tasks wait, and which function wakes which
///
/// The program needs no change. bpftrace puts probes on the functions that poll and wake tasks, and counts in the kernel.
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// The process
    #[arg(short, long)]
    pid: u32,
    /// How long to count; an interrupt ends it earlier
    #[arg(long = "for", value_name = "DURATION", default_value = "10s", value_parser = time::at_least::<1>)]
    time: Duration,
    /// Print each poll that takes this long or longer, too: its task and its thread
    #[arg(long, value_name = "DURATION", value_parser = time::at_least::<1>)]
    slow: Option<Duration>,
    /// Print JSON
    ///
    /// An object: version (1), pid, time (all times are in nanoseconds), functions, wakes, running, slow, lost, unknown (tasks whose
    /// polls are not counted, or null), notes. A function has function, own (the program's own functions in its tasks, if it is a
    /// framework's), job, polls and poll (total, mean, p50, p99, max; a percentile is null if polls that it leaves out could change it);
    /// woken, the number of polls whose wake was seen, and wait, the times from these wakes to the polls. Wakes have by (null outside of
    /// tasks), woken and count. A poll that had not ended (running) or was slow has task, function, job, tid, thread and time. lost has
    /// polls and waits (not counted), percentiles (polls and waits that they leave out), wakes and slow.
    #[arg(long)]
    json: bool,
    /// The file with the program's debug information, if it is not where debuggers look
    #[arg(long, value_name = "FILE")]
    debug: Option<PathBuf>,
}

#[derive(Serialize)]
struct Json<'s> {
    version: u32,
    pid: u32,
    #[serde(flatten)]
    summary: &'s Summary,
}

pub fn polls(arguments: &Arguments) -> Outcome {
    let pid = arguments.pid;
    let tracer = bpftrace("polls", pid)?;
    let program =
        Program::attach(pid, Options { debug_file: arguments.debug.clone(), stop: false }).map_err(failure)?;
    // The script reads headers and vtables as the known versions of tokio have them.
    if let Some(gap) = program.other_layout().map_err(failure)?.told() {
        let unknown = format!("unknown which polls process {pid} has: {}", escape::name(gap));
        return Err(Failure::new(exit::UNKNOWN, anyhow::Error::msg(unknown)));
    }
    let information = DebugInformation::of(&program);
    let polls = Polls::of(&program, &information);
    let described = Described::without_spawns(&program, &information);
    let (mut looks, mut own) = (Looks::new(&program, &described)?, OwnFunctions::default());
    let loaded: HashMap<_, _> = process::loaded(pid)?.into_iter().map(|file| (file.path, file.readable)).collect();
    let subject = Subject {
        pid,
        functions: &polls.functions,
        has_debug_file: &|image| program.images()[image].debug_file.is_some(),
        readable: &|path| Some(loaded.get(path)?.to_str()?.to_owned()),
    };
    let script = script::script(&subject, arguments.time, arguments.slow, tracer.ends_when_asked());
    let script = script.map_err(|error| Failure::new(exit::NO_TRACER, error))?;
    let trace = Trace { tracer: &tracer, pid, script: &script, functions: &polls.functions, memory: program.memory() };
    let functions = polls.functions.poll.len();
    let ready = || {
        say!("dyntrace: counting polls of process {pid}, of {}; an interrupt ends it", counted(functions, "function"))
    };
    let look = || {
        if looks.is_due() {
            // A program that has ended has no own functions any more. Its counts stay.
            let _ = looks.look(|listing, _| own.add(&listing));
        }
    };
    let (counts, window) = trace.run(ready, look)?;
    let name = |tid: u64| std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/comm")).ok();
    let name = |tid| name(tid).map(|name| name.trim_end_matches('\n').to_owned());
    let mut notes = polls.notes.clone();
    if !polls.functions.schedule.is_empty() {
        notes.push(NO_WAKERS.to_owned());
    }
    let summary = summary::summary(&counts, &polls.types, window, name, [polls.gaps, notes], own);
    if arguments.json {
        stdout::write_json(&Json { version: VERSION, pid, summary: &summary }, false)?;
    } else {
        print(&text::text(&summary))?;
    }
    Ok(status(&summary).into())
}

/// Reports losses. Returns the exit status.
fn status(summary: &Summary) -> u8 {
    let summary::Lost { polls, waits, percentiles, wakes, slow } = summary.lost;
    if polls > 0 {
        losses::warn(&format!("{polls} polls are not counted: bpftrace's map was full"));
    }
    if waits > 0 {
        losses::warn(&format!("{waits} wakes have no wait: bpftrace's map was full"));
    }
    if percentiles > 0 {
        losses::warn(&format!("the percentiles leave out {percentiles} polls and waits: bpftrace's map was full"));
    }
    if wakes > 0 {
        losses::warn(&format!("{wakes} wakes are in no row: bpftrace's map was full"));
    }
    if slow > 0 {
        losses::warn(&format!("{slow} slow polls are not shown: bpftrace lost their lines; give a longer --slow"));
    }
    match summary.lost.is_some() {
        true => exit::LOSSY,
        false if summary.is_unknown() => exit::UNKNOWN,
        false => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Fields;

    #[test]
    fn no_polls_of_a_program_that_is_seen_by_half_are_unknown() {
        let mut none = summary::tests::sample(&counts::Counts::default());
        assert_eq!(status(&none), 0);
        none.unknown = Some("a library".to_owned());
        assert_eq!(status(&none), exit::UNKNOWN);
        none.lost.polls = 1;
        assert_eq!(status(&none), exit::LOSSY);
        let found = Summary { unknown: none.unknown, ..summary::tests::sample(&summary::tests::counts()) };
        assert_eq!(status(&found), 0);
    }

    #[test]
    fn the_page_has_the_fields() {
        let mut summary = summary::tests::sample(&summary::tests::counts());
        let mut fields = Fields::new(&[
            ("functions[].poll", "times"),
            ("functions[].wait", "times"),
            ("running[]", "poll"),
            ("slow[]", "poll"),
        ]);
        for unknown in [None, Some("a library".to_owned())] {
            summary.unknown = unknown;
            fields.add(&serde_json::to_value(Json { version: VERSION, pid: 7, summary: &summary }).unwrap());
            let times = &mut summary.functions[0].poll;
            (times.p50, times.p99) = (None, None);
        }
        fields.are_those_below("dyntrace polls --json");
    }
}
