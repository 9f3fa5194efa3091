//! `dyntrace top`: the operations, tasks, waits and messages of a running process, or of a trace, as tables that follow the time.

mod keys;
mod listing;
mod model;
mod output;
#[cfg(test)]
mod sample;
mod screen;
mod source;
mod tab;
mod terminal;
mod view;

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use dyntrace_analysis::view::{PAUSE, time};
use dyntrace_analysis::{losses, recording};
use dyntrace_terminal::exit::{Failure, Outcome};
use dyntrace_terminal::{escape, stdout};

#[cfg(target_os = "linux")]
use crate::record;

use output::Shown;
use source::{Played, Source, State};
use view::{Picture, View};

const HELP: &str = "\
Examples:
  dyntrace top -p 4711
  dyntrace top -r trace --at 12.5s
  dyntrace top -p 4711 --for 5s --json

Keys: Tab and 1 to 6 choose a tab, the arrows a row and, in a trace, the time. s: sort by the next
column, r: reverse, w: the last 10 s or all the time, /: filter, p: pause, Enter: details, of a task
what dyntrace why says, ?: all keys, q: leave. It ends with its terminal, too. On a narrow screen some
columns are in the details of a row only.

Without a terminal, and with --once, --for or --json, it prints all tabs once, as tables or JSON: of
a process after 1 s or --for, of a trace up to its end or --at.

The process records its operations, tasks, waits and messages into circular files in TMPDIR, which
are removed at the end. They take the bytes of --size for each thread, and for 16 threads more.
Tasks are those that dyntrace's functions started, waits those of dyntrace::sync, time, net, task,
mailbox and wait.

Exit status:
   0  the figures are whole
   1  the process does not answer, or the terminal cannot be used
   2  wrong use
   3  events were lost
   4  the trace is damaged
   5  the trace has no event and no end: it is not known whether events are missing
  65  there is no such process, or it does not allow control
  66  there is no such trace, or it cannot be read";

/// How long a process is recorded for a snapshot, unless the user says.
const ONCE: Duration = Duration::from_secs(1);

/// Watch a process: operations, user tags, tasks, waits, messages and pools, live or in a trace
///
/// A process that has no control socket is asked to open one, as by dyntrace record -p.
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
#[cfg_attr(target_os = "linux", command(group(clap::ArgGroup::new("subject").required(true).args(["pid", "trace"]))))]
pub struct Arguments {
    /// The process
    #[cfg(target_os = "linux")]
    #[arg(short, long)]
    pid: Option<u32>,
    /// The folder of a recording, or of one process in it; several are shown as one
    #[arg(short = 'r', long, value_name = "TRACE", num_args = 1..)]
    #[cfg_attr(not(target_os = "linux"), arg(required = true))]
    trace: Vec<PathBuf>,
    /// Begin at this time of the trace: 1.5s, or 2026-11-21T10:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time::instant)]
    #[cfg_attr(target_os = "linux", arg(conflicts_with = "pid"))]
    at: Option<time::Instant>,
    /// Print all tabs once, and end
    #[arg(long)]
    once: bool,
    /// Record the process that long, then print all tabs: 5s
    #[arg(long = "for", value_name = "TIME", value_parser = time::length, conflicts_with = "trace")]
    length: Option<Duration>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Only rows with this text, or that match this pattern: '*.log'
    #[arg(long, value_name = "TEXT|GLOB", default_value = "", hide_default_value = true)]
    filter: String,
    /// The bytes of the newest events of each thread that wait to be read
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "BYTES", default_value = "4M", value_parser = record::size)]
    size: u64,
    /// A new or empty folder for the circular files, if the process is another user's: one in which that user can write. It is left
    /// there
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "DIR", conflicts_with = "trace")]
    folder: Option<PathBuf>,
}

pub fn top(arguments: &Arguments) -> Outcome {
    #[cfg(target_os = "linux")]
    if let Some(pid) = arguments.pid {
        let mut live = source::Live::start(pid, arguments.folder.as_deref(), arguments.size)?;
        return show(&mut live, arguments);
    }
    let trace = recording::open(&arguments.trace)?;
    show(&mut Played::new(&trace, arguments.at)?, arguments)
}

fn show(source: &mut dyn Source, arguments: &Arguments) -> Outcome {
    let is_snapshot =
        arguments.once || arguments.json || arguments.length.is_some() || !std::io::stdout().is_terminal();
    if is_snapshot {
        snapshot(source, arguments)?;
    } else {
        let is_trace = source.pid().is_none();
        let subject = source.pid().map_or_else(
            || arguments.trace.iter().map(escape::path).collect::<Vec<_>>().join(" "),
            |pid| format!("process {pid}"),
        );
        terminal::show(source, &mut View::new(subject, is_trace, arguments.filter.clone()))?;
        source.stop()?;
    }
    let losses = &source.model().losses;
    losses::say(losses);
    Ok(losses::status(losses))
}

/// Prints all tabs, of a process after the time that the user says.
fn snapshot(source: &mut dyn Source, arguments: &Arguments) -> Result<(), Failure> {
    let length = arguments.length.unwrap_or(ONCE);
    let begun = Instant::now();
    let mut state = State::Runs;
    while source.pid().is_some() && state == State::Runs && begun.elapsed() < length {
        state = source.look(PAUSE.min(length.saturating_sub(begun.elapsed())))?;
    }
    source.stop()?;
    let ended = source.pid().is_some() && state == State::Ended;
    let picture = Picture::of(source.model());
    let shown = Shown { picture: &picture, pid: source.pid(), ended, filter: &arguments.filter };
    if arguments.json {
        stdout::write_json(&shown.json(), false)?
    } else {
        stdout::write(&shown.text())?
    }
    Ok(())
}
