//! `dyntrace snapshot`: writes the last events of a process to a trace.

use std::path::PathBuf;
use std::time::Duration;

use dyntrace::recorder::control::protocol::{Record, Request};
use dyntrace_terminal::exit::Outcome;
use dyntrace_terminal::stdout;

use crate::record::summary::Summary;
use crate::record::{folder, process};

const HELP: &str = "\
Examples:
  dyntrace snapshot -p 4711 -o last-seconds
  dyntrace snapshot -p 4711 --session 3 --json

The process must be recorded with --overwrite.

Exit status:
   0  the trace was written
   1  the trace cannot be written or read, or standard output cannot be written
   2  wrong use
   3  events were lost
   4  the trace is damaged
  65  there is no such process or session, or the process does not allow control";

/// How long the process may take to copy the events, which may be gigabytes.
const PATIENCE: Duration = Duration::from_secs(120);

/// Write the last events of a process to a trace
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// The process
    #[arg(short, long)]
    pid: u32,
    /// The folder for the trace, which must be new or empty [default: snapshot, or snapshot-2 and so on]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// The number of the session, if several overwrite; dyntrace status shows it
    #[arg(long, value_name = "N")]
    session: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn snapshot(arguments: &Arguments) -> Outcome {
    let Arguments { pid, session, .. } = *arguments;
    let mut connection = process::connect(pid)?;
    let overwrites = |session: &Record| session.get("mode") == Some("overwrite");
    let none =
        format!("keeps no last events: start dyntrace record -p {pid} --overwrite, and take snapshots while it runs");
    let session = process::session(&mut connection, pid, session, overwrites, &none)?;
    let directory = folder::choose(arguments.output.as_deref(), "snapshot")?;
    connection.request_within(&Request::Snapshot(session, directory.clone()), PATIENCE).map_err(process::refusal)?;
    let summary = Summary::of_seen(&directory)?;
    let status = summary.say_losses();
    let line = if arguments.json { summary.json() } else { summary.line("copying") };
    stdout::write(&format!("{line}\n"))?;
    Ok(status)
}
