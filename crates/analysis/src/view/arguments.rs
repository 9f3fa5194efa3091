//! The arguments of `dyntrace view`.

use std::path::PathBuf;

use dyntrace_reader::{Event, EventClass, Process, Selection, Trace};
use dyntrace_terminal::exit::Failure;

use super::causal::Causal;
use super::csv::Csv;
use super::event;
use super::format::Format;
use super::json::Json;
use super::names;
use super::places;
use super::tag::OfTag;
use super::text::Text;
use super::time::{self, Instant};
use super::token::OfToken;
use crate::render::{self, Rendering, Settings, slow};

const HELP: &str = "\
Examples:
  dyntrace view trace
  dyntrace view trace --tag 'req-*' --probe efile_drv-return --failed --json
  dyntrace view trace --errno ENOENT --since 1.5s --until 2s
  dyntrace view trace --slowest --tag 'req-*'
  dyntrace view trace --token 42
  dyntrace view trace --script efile_latency
  dyntrace view --follow trace

In a pattern, * matches any text and ? one character.

--slowest takes each user tag for a request, from its first entry to its last return. OUTSIDE is the
time in which none of its operations was in flight. QUEUE WAIT, SERVICE and DELIVERY are sums over
its operations; where these overlap, the sums exceed the time that the request took.

Exit status:
   0  the trace is complete
   1  the events cannot be written
   2  wrong use, or a name after --probe that no probe has
   3  events of the trace were lost
   4  the trace is damaged
   5  the trace has no event and no end: it is not known whether events are missing
  66  there is no such trace, or it cannot be read";

/// Show the events of a recorded trace
///
/// Prints the lines of the shipped scripts, in the order of time, and events of other probes with the names of their fields. Lost
/// events are reported at the end, on standard error.
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// The folder of a recording, or of one process in it; several are shown as one
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// Print one JSON object per line, with the fields of its probe, and the names of commands, errors and lanes beside their numbers
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print CSV: a row for each event, a column for each field of the probes that --probe selects, or of all probes. For a file for
    /// each probe: dyntrace convert --to csv
    #[arg(long)]
    csv: bool,
    /// Print the requests that took longest instead of events, 10 or this many, at most 1000: --slowest=40
    #[arg(long, value_name = "COUNT", num_args = 0..=1, require_equals = true, default_missing_value = "10",
          value_parser = clap::value_parser!(u16).range(1..=1000),
          conflicts_with_all = ["csv", "script", "follow", "token", "probe", "failed", "command", "errno", "thread", "min_duration"])]
    pub slowest: Option<u16>,
    #[arg(long, value_name = "NAME", conflicts_with_all = ["json", "csv"], value_parser = names::script, help = names::script_help())]
    script: Option<&'static Rendering>,
    /// A poll that takes this long or longer is slow, for the script task_latency; 10 ms without: 500us
    #[arg(long, value_name = "TIME", requires = "script", value_parser = time::duration)]
    slow: Option<i64>,
    /// Keep printing new events until the recording ends
    #[arg(short, long, conflicts_with = "min_duration")]
    pub follow: bool,
    /// Only events of operations and processes whose user tag matches, and other events with a matching one
    #[arg(long, value_name = "GLOB")]
    pub tag: Option<String>,
    /// Only events of the sequential trace with this label: its messages, and the file operations of its processes. Lines are indented
    /// by causal depth
    #[arg(long, value_name = "LABEL", allow_negative_numbers = true, conflicts_with = "min_duration")]
    token: Option<i32>,
    /// Only events of matching probes: efile_drv-return, efile_drv*, shop:*; can be repeated
    #[arg(long, value_name = "GLOB")]
    pub probe: Vec<String>,
    /// Only events that report a failure
    #[arg(long)]
    failed: bool,
    /// Only events of this command of the file driver, by name or number: RENAME
    #[arg(long, value_name = "NAME", value_parser = names::command)]
    command: Option<i32>,
    /// Only events with this error, by name or number: ENOENT
    #[arg(long, value_name = "NAME", value_parser = names::errno)]
    errno: Option<i32>,
    /// Only events at or after this time: a date and time (2026-11-21T10:00:00Z), or a duration after the first event (1.5s)
    #[arg(long, value_name = "TIME", value_parser = time::instant)]
    since: Option<Instant>,
    /// Only events before this time
    #[arg(long, value_name = "TIME", value_parser = time::instant)]
    until: Option<Instant>,
    /// Only events that this thread fired
    #[arg(long, value_name = "TID")]
    thread: Option<u64>,
    /// Only events of operations that took at least this long, from request to answer: 10ms
    #[arg(long, value_name = "TIME", value_parser = time::duration)]
    pub min_duration: Option<i64>,
}

impl Arguments {
    /// Returns a filter for the events to show. It must see every event. `first` is the time of the trace's first event, if known.
    pub fn filter(&self, first: Option<i64>) -> impl FnMut(&Event<'_>) -> bool {
        let shows_own = self.shows_own_events();
        // Lines need the events about modules, whichever events are shown.
        let takes_modules = !self.json && !self.csv;
        let mut selection = first.map(|first| self.selection(first));
        let mut of_token = self.token.map(OfToken::new);
        let mut of_tag = self.tag.as_deref().map(OfTag::new);
        move |event| {
            let is_own = event::is_own(event.class);
            if !is_own && of_token.as_mut().is_some_and(|of_token| !of_token.takes(event)) {
                return false;
            }
            let has_tag = of_tag.as_mut().is_none_or(|of_tag| of_tag.takes(event));
            let is_selected = selection.get_or_insert_with(|| self.selection(event.time)).matches(event) && has_tag;
            match self.script {
                Some(script) => script.needs(event) && (is_own || is_selected),
                None => is_selected && (shows_own || !is_own) || takes_modules && event.class.name == places::MODULE,
            }
        }
    }

    fn selection(&self, first: i64) -> Selection {
        let mut selection = self.probe.iter().fold(self.times(first), |selection, probe| selection.probe(probe));
        if self.failed {
            selection = selection.failed();
        }
        if let Some(command) = self.command {
            selection = selection.command(command.into());
        }
        if let Some(errno) = self.errno {
            selection = selection.errno(errno.into());
        }
        if let Some(tid) = self.thread {
            selection = selection.tid(tid);
        }
        selection
    }

    /// Selects events by time.
    pub fn times(&self, first: i64) -> Selection {
        let mut selection = Selection::new();
        if let Some(since) = self.since {
            selection = selection.from(since.at(first));
        }
        if let Some(until) = self.until {
            selection = selection.until(until.at(first));
        }
        selection
    }

    /// Fails if options do not fit each other, beyond what the parser checks.
    pub fn check(&self) -> Result<(), Failure> {
        self.script.map_or(Ok(()), |script| slow::check(self.slow, script.script))
    }

    fn settings(&self) -> Settings {
        self.slow.map_or_else(Settings::default, |slow| Settings { slow })
    }

    /// Whether to show the recorder's own events: only if the user names them.
    fn shows_own_events(&self) -> bool {
        self.probe.iter().any(|pattern| pattern.starts_with("recorder:"))
    }

    /// The format for the events of `trace`. Appends its title.
    pub fn format(&self, trace: &Trace, out: &mut Vec<u8>) -> Format {
        if self.json {
            Format::new(Json::default())
        } else if self.csv {
            let classes = trace.processes().iter().flat_map(Process::classes);
            let (own, selection) = (self.shows_own_events(), self.selection(0));
            let shown = |class: &&EventClass| (own || !event::is_own(class)) && selection.matches_probe(class);
            Format::new(Csv::new(classes.filter(shown), out))
        } else if let Some(script) = self.script {
            Format::of_script(script, &self.settings())
        } else {
            let mut text = Text::on_stdout(render::ALL);
            text.shows_modules = self.shows_own_events();
            if self.token.is_some() { Format::new(Causal::new(text)) } else { Format::new(text) }
        }
    }
}
