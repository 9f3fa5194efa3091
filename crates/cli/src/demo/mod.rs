//! `dyntrace demo`: a small program, recorded and shown by one command.

#[cfg_attr(target_os = "linux", path = "record.rs")]
#[cfg_attr(not(target_os = "linux"), path = "elsewhere.rs")]
mod record;
#[cfg(target_os = "linux")]
mod work;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dyntrace_analysis::operation::{error_of, name_of};
use dyntrace_analysis::report::format::duration;
use dyntrace_analysis::view::Format;
use dyntrace_analysis::{losses, render};
use dyntrace_reader::{FileOperation, FileOperations, Trace};
use dyntrace_terminal::escape;
use dyntrace_terminal::exit::Outcome;
use dyntrace_terminal::temporary::Temporary;

const HELP: &str = "\
Examples:
  dyntrace demo
  dyntrace demo -o trace && dyntrace view trace --failed --json

Exit status:
   0  the trace is complete
   1  a file cannot be written
   3  events were lost
   4  the trace is damaged";

/// Record a small program and show its events: no tracer, no root
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// Keep the trace in this folder
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

/// Records some file operations, and prints their lines and durations.
pub fn demo(arguments: &Arguments) -> Outcome {
    let output = arguments.output.as_deref();
    let temporary = Temporary::new()?;
    let folder = match output {
        Some(folder) => std::path::absolute(folder).context("cannot make the path of the trace absolute")?,
        None => temporary.path().join("trace"),
    };
    record::record(temporary.path(), &folder)?;
    let trace = Trace::open(&folder).map_err(anyhow::Error::new)?;
    print(&trace, output).map_err(anyhow::Error::new)?;
    let losses = trace.losses();
    losses::say(&losses);
    Ok(losses::status(&losses))
}

fn print(trace: &Trace, output: Option<&Path>) -> io::Result<()> {
    let (mut lines, mut table) = (Vec::new(), TITLES.to_owned());
    let mut format = Format::on_stdout(render::ALL);
    let mut operations = FileOperations::default();
    for event in trace.events().filter(|event| event.class.provider() != "recorder") {
        format.0.event(&event, &mut lines);
        if let Some(operation) = operations.push(&event) {
            table += &row(&operation);
        }
    }
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "A rename that fails, and a file that is written, read and removed, recorded by the program itself:\n"
    )?;
    out.write_all(&lines)?;
    writeln!(out, "\nWhere the time went:\n\n{table}")?;
    let next = match output {
        Some(folder) => format!(
            "  dyntrace view {0} --failed --json\n  dyntrace report {0} -o report.html",
            escape::path(folder)
        ),
        None => "  dyntrace demo -o trace                               # keeps the trace, for view, report and babeltrace2\n  \
                   dyntrace record -o trace -- YOUR-PROGRAM ARGS...     # any program that uses dyntrace\n  \
                   dyntrace run efile_drv -- YOUR-PROGRAM ARGS...       # the lines above, live"
            .to_owned(),
    };
    writeln!(out, "Try next:\n{next}")
}

const TITLES: &str = "operation     user tag          in queue      work    answer  outcome\n";

fn row(operation: &FileOperation<'_>) -> String {
    let name = name_of(operation);
    let tag = escape::name(operation.request.user_tag);
    let time = |time: Option<i64>| time.map_or_else(|| "-".to_owned(), duration);
    let [queue, work, answer] = [operation.queue_wait(), operation.service(), operation.delivery()].map(time);
    let outcome = match error_of(operation) {
        error if error.is_empty() => "ok".into(),
        error => error,
    };
    format!("{name:<12}  {tag:<16}  {queue:>8}  {work:>8}  {answer:>8}  {outcome}\n")
}
