//! What the user asks `dyntrace view` for.

use std::path::PathBuf;

use dyntrace_reader::{Event, Process, Selection, Trace};

use crate::render::{self, Rendering};

use super::csv::Csv;
use super::event;
use super::format::Format;
use super::json::Json;
use super::names;
use super::places;
use super::time::{self, Instant};
use super::token::OfToken;

/// The examples and the exit statuses.
pub const HELP: &str = "\
Examples:
  dyntrace view trace
  dyntrace view trace --tag 'req-*' --probe efile_drv-return --failed --json
  dyntrace view trace --errno ENOENT --since 1.5s --until 2s
  dyntrace view trace --min-duration 10ms
  dyntrace view trace --token 42
  dyntrace view trace --script efile_latency
  dyntrace view --follow trace

A pattern has * for any text and ? for one character.

Exit status:
   0  all events are there
   1  the events cannot be written
   2  wrong use
   3  the trace lacks events that were lost
   4  the trace is damaged
  66  there is no such trace, or it cannot be read";

/// The arguments of `dyntrace view`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder that was recorded to, or that of one process in it; several are shown as one
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// Print one JSON object a line
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print a table with one column for each field
    #[arg(long)]
    csv: bool,
    /// Print what this script prints: efile_latency, efile_by_tag, aio_pool, message_latency
    #[arg(long, value_name = "NAME", conflicts_with_all = ["json", "csv"], value_parser = names::script)]
    script: Option<&'static Rendering>,
    /// Go on as long as the program is recorded
    #[arg(short, long, conflicts_with = "min_duration")]
    pub follow: bool,
    /// Events with such a user tag
    #[arg(long, value_name = "GLOB")]
    tag: Option<String>,
    /// Events of the sequential trace with this label: its messages, and the file operations that its processes ask for. As lines, they
    /// are the further to the right, the more messages led to them
    #[arg(long, value_name = "LABEL", allow_negative_numbers = true, conflicts_with = "min_duration")]
    token: Option<i32>,
    /// Events of such probes: efile_drv-return, efile_drv*, shop:*; may be given several times
    #[arg(long, value_name = "GLOB")]
    probe: Vec<String>,
    /// Events that say that something failed
    #[arg(long)]
    failed: bool,
    /// Events of this command of the file driver, by name or number: RENAME
    #[arg(long, value_name = "NAME", value_parser = names::command)]
    command: Option<i32>,
    /// Events with this error, by name or number: ENOENT
    #[arg(long, value_name = "NAME", value_parser = names::errno)]
    errno: Option<i32>,
    /// Events at or after a time of day (2026-11-21T10:00:00Z), or so long after the first event (1.5s)
    #[arg(long, value_name = "TIME", value_parser = time::instant)]
    since: Option<Instant>,
    /// Events before it
    #[arg(long, value_name = "TIME", value_parser = time::instant)]
    until: Option<Instant>,
    /// Events that this thread fired, by its number in the system
    #[arg(long, value_name = "TID")]
    thread: Option<u64>,
    /// Events of operations that took at least so long from request to answer: 10ms
    #[arg(long, value_name = "TIME", value_parser = time::duration)]
    pub min_duration: Option<i64>,
}

impl Arguments {
    /// Tells of events whether they are to be shown. The first event of the trace was at `first`, or the first one that is asked about.
    pub fn filter(&self, first: Option<i64>) -> impl FnMut(&Event<'_>) -> bool {
        let shows_own = self.shows_own_events();
        // What they tell is needed, whichever events are shown.
        let takes_modules = !self.json && !self.csv;
        let mut selection = first.map(|first| self.selection(first));
        let mut of_token = self.token.map(OfToken::new);
        move |event| {
            let is_own = event::is_own(event.class);
            if !is_own && of_token.as_mut().is_some_and(|of_token| !of_token.takes(event)) {
                return false;
            }
            let is_selected = selection.get_or_insert_with(|| self.selection(event.time)).matches(event);
            match self.script {
                Some(script) => script.needs(event) && (is_own || is_selected),
                None => is_selected && (shows_own || !is_own) || takes_modules && event.class.name == places::MODULE,
            }
        }
    }

    /// Which events are to be shown, of a trace whose first event was at `first`.
    fn selection(&self, first: i64) -> Selection {
        let mut selection = self.probe.iter().fold(Selection::new(), |selection, probe| selection.probe(probe));
        if let Some(tag) = &self.tag {
            selection = selection.tag(tag);
        }
        if self.failed {
            selection = selection.failed();
        }
        if let Some(command) = self.command {
            selection = selection.command(command.into());
        }
        if let Some(errno) = self.errno {
            selection = selection.errno(errno.into());
        }
        if let Some(since) = self.since {
            selection = selection.from(since.at(first));
        }
        if let Some(until) = self.until {
            selection = selection.until(until.at(first));
        }
        if let Some(tid) = self.thread {
            selection = selection.tid(tid);
        }
        selection
    }

    /// Whether the recorder's own events are shown: only if they are asked for by name.
    fn shows_own_events(&self) -> bool {
        self.probe.iter().any(|pattern| pattern.starts_with("recorder:"))
    }

    /// How the events of `trace` are written; appends what comes before the first.
    pub fn format(&self, trace: &Trace, out: &mut Vec<u8>) -> Format {
        if self.json {
            Format::Json(Json::default())
        } else if self.csv {
            let classes = trace.processes().iter().flat_map(Process::classes);
            let own = self.shows_own_events();
            Format::Csv(Csv::new(classes.filter(|class| own || !event::is_own(class)), out))
        } else if let Some(script) = self.script {
            Format::of_script(script)
        } else {
            let text = Format::on_stdout(render::ALL).with_modules(self.shows_own_events());
            if self.token.is_some() { text.causal() } else { text }
        }
    }
}
