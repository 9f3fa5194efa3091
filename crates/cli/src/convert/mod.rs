//! `dyntrace convert`: a trace in the formats of other tools.

mod parquet;
mod perfetto;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::ValueEnum;

use crate::exit::Outcome;
use crate::{escape, losses, trace};

/// A format that traces can be converted to.
#[derive(Clone, Copy, ValueEnum)]
pub enum Format {
    /// Slices and counters for ui.perfetto.dev: one file
    Perfetto,
    /// Tables of events and of operations: a folder with two files
    Parquet,
}

/// What `--help` says at its end.
pub const HELP: &str = "\
Examples:
  dyntrace convert trace --to perfetto -o trace.perfetto
  dyntrace convert trace-of-a trace-of-b --to parquet -o tables

Files are as readable as the trace, and no more. Files of their names are replaced.

Exit status:
   0  the trace was converted
   1  what was asked for cannot be written
   2  wrong use
   3  events of the trace were lost
   4  the trace is damaged
  66  there is no such trace, or it cannot be read";

/// What to convert to what.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of a trace; several are converted as one
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// The format
    #[arg(long, value_enum)]
    to: Format,
    /// The file to write, or the folder if the format has several files
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
}

/// Reads the traces once and writes what the format asks for.
pub fn convert(Arguments { traces, to, output }: &Arguments) -> Outcome {
    let trace = trace::open(traces)?;
    match to {
        Format::Perfetto => perfetto::convert(&trace, output).map_err(anyhow::Error::new),
        Format::Parquet => parquet::convert(&trace, output),
    }
    .with_context(|| format!("cannot write {}", escape::path(output)))?;
    let losses = trace.losses();
    losses::say(&losses);
    Ok(losses::status(&losses))
}
