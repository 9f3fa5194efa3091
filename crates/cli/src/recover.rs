//! `dyntrace recover`: copies a trace after a crash or damage to a plain one.

use std::path::PathBuf;

use dyntrace_analysis::losses;
use dyntrace_terminal::exit::{self, Failure, Outcome};
use dyntrace_terminal::stdout;

use crate::record::folder;
use crate::record::summary::Summary;

const HELP: &str = "\
Examples:
  dyntrace recover trace -o whole
  dyntrace recover trace/server-4711 -o last-seconds --json

The old trace is only read. Commands of dyntrace read the trace of a killed program without recovery, also its circular files; other
tools do not read those.

Exit status:
   0  the new trace is complete
   1  the new trace, or standard output, cannot be written
   2  wrong use
   3  events of the trace were lost
   4  damaged parts were left out
   5  the trace has no event and no end: it is not known whether events are missing
  66  there is no such trace, or it cannot be read";

/// Recover a trace after a crash or damage
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// The folder of a recording, or of one process in it
    trace: PathBuf,
    /// The folder for the new trace
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn recover(arguments: &Arguments) -> Outcome {
    let output = folder::choose(Some(&arguments.output), "")?;
    // As in the other commands that write traces, the folder may exist if it is empty.
    let _ = dyntrace_folders::remove_empty(&output);
    let recovered = dyntrace_reader::recover(&arguments.trace, &output).map_err(|error| {
        let is_of_the_new = matches!(&error, dyntrace_reader::Error::Io { path, .. } if path.starts_with(&output));
        Failure::new(if is_of_the_new { 1 } else { exit::NO_TRACE }, error)
    })?;
    let summary = Summary::of(&output)?;
    for place in &recovered.damaged {
        losses::warn(&format!("left out: {}", losses::place(place)));
    }
    let status = summary.say_losses();
    let line = if arguments.json { summary.json() } else { summary.line("recovering") };
    stdout::write(&format!("{line}\n"))?;
    Ok(if recovered.damaged.is_empty() { status } else { exit::DAMAGED.into() })
}
