//! The arguments of `dyntrace record`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use dyntrace::recorder::{Format, Mode, Options, OptionsError};
use dyntrace_analysis::view::time;
use dyntrace_terminal::exit::{self, Failure};

use super::filter::FilterArguments;

const HELP: &str = "\
Examples:
  dyntrace record -- target/release/server --port 8080
  dyntrace record -o trace --probes 'efile_drv*,aio_pool*' --tag 'req-*' -- target/release/server
  dyntrace record --overwrite --slower 100ms --on-panic -- target/release/server
  dyntrace record -p server --for 60s --command RENAME --failed

In a pattern, * matches any text and ? one character. Sizes may end in K, M or G; times end in ns, us,
ms or s.

Exit status: that of the command, or 128 plus the number of its signal. If that is 0, and with -p:
    0  the trace is complete
    1  the trace cannot be written, read or finished
    2  wrong use
    3  events were lost
    4  the trace is damaged
   65  nothing was recorded: no recorder in the program, no such probe, or control is not allowed
  126  the command cannot be run
  127  the command was not found";

/// Record a program by its built-in recorder: no tracer, no privileges
///
/// The program writes its events to files, one for each thread, which survive a crash. Programs that it starts do the same. A running
/// process opens its control socket when it is asked to, at its next file operation, message or call of a traced function. The kernel
/// lets root ask, and the process's user unless kernel.yama.ptrace_scope forbids it. A process that called
/// dyntrace::recorder::control(), or has DYNTRACE=control in its environment, has the socket from the start.
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// The folder for the trace, new or empty [default: trace, or trace-2 and so on]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Record a running process, until an interrupt or until it ends
    #[arg(short, long, conflicts_with = "command_line")]
    pub pid: Option<u32>,
    /// End the recording of the process after this time: 60s
    #[arg(long = "for", value_name = "TIME", value_parser = time::length, conflicts_with = "command_line")]
    pub length: Option<Duration>,
    #[command(flatten)]
    pub events: FilterArguments,
    /// Keep only the newest events of each thread; dyntrace snapshot copies them at any time
    #[arg(long)]
    overwrite: bool,
    /// Take a snapshot to DIR-snapshots when a file operation takes longer than this: 100ms
    #[arg(long, value_name = "TIME", requires = "overwrite", value_parser = slower)]
    slower: Option<Duration>,
    /// Take a snapshot to DIR-snapshots when a thread panics
    #[arg(long, requires = "overwrite")]
    on_panic: bool,
    /// The most snapshots for each of these two causes, at least ten seconds apart [default: 10]
    #[arg(long, value_name = "N", requires = "overwrite")]
    snapshots: Option<u32>,
    /// The most bytes for one thread [default: 1G, with --overwrite 1M]
    #[arg(long, value_name = "BYTES", value_parser = size)]
    size: Option<u64>,
    /// The format of the trace; CTF 2 needs babeltrace2 2.1 or newer
    #[arg(long, value_parser = format(), default_value = Format::default().name())]
    format: Format,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    /// The command to run and record, with its arguments
    #[arg(last = true, required_unless_present = "pid", value_name = "COMMAND")]
    pub command_line: Vec<OsString>,
}

impl Arguments {
    /// The options of a recording to `directory`.
    pub fn options(&self, directory: &Path) -> Result<Options, Failure> {
        let mut options = Options::new(directory);
        options.mode = if self.overwrite { Mode::Overwrite } else { Mode::Stream };
        options.probes = self.events.probes();
        options.size = self.size;
        options.format = self.format;
        options.filter = self.events.filter();
        options.triggers.slower = self.slower;
        options.triggers.on_panic = self.on_panic;
        options.triggers.snapshots = self.snapshots.unwrap_or(options.triggers.snapshots);
        // Parsed as the program will parse them, so that wrong combinations fail here.
        options.to_string().parse().map_err(|error: OptionsError| Failure::new(exit::USAGE, error))
    }
}

fn format() -> impl TypedValueParser<Value = Format> {
    let named = |name: String| Format::ALL.into_iter().find(|format| format.name() == name).unwrap_or_default();
    PossibleValuesParser::new(Format::ALL.map(Format::name)).map(named)
}

/// Parses a number of bytes: 4M.
pub fn size(text: &str) -> Result<u64, String> {
    let options = parse("size", text)?;
    options.size.ok_or_else(|| "expected a number of bytes".to_owned())
}

fn slower(text: &str) -> Result<Duration, String> {
    let options = parse("slower", text)?;
    options.triggers.slower.ok_or_else(|| "expected a time".to_owned())
}

fn parse(option: &str, value: &str) -> Result<Options, String> {
    let options = format!("record:/,mode=overwrite,{option}={}", value.replace(',', "\\,"));
    options.parse().map_err(|error: OptionsError| error.to_string())
}
