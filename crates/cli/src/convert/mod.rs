//! `dyntrace convert`: a trace in the format of another tool.

mod csv;
mod parquet;
mod perfetto;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::ValueEnum;

use crate::exit::{self, Failure, Outcome};
use crate::{escape, losses, recording};

#[derive(Clone, Copy, ValueEnum)]
pub enum Format {
    /// Slices and counters for ui.perfetto.dev: a file
    Perfetto,
    /// Tables of events and of operations: a folder with two files
    Parquet,
    /// A table for each probe, with its fields as columns: a folder with CSV files
    Csv,
    /// The Common Trace Format 1.8, for babeltrace2 2.0 and newer: a folder, which must be new or empty
    #[value(name = "ctf1.8")]
    Ctf1,
    /// The Common Trace Format 2, for babeltrace2 2.1 and newer: a folder, which must be new or empty
    Ctf2,
}

pub const HELP: &str = "\
Examples:
  dyntrace convert trace --to perfetto -o trace.perfetto
  dyntrace convert trace-of-a trace-of-b --to parquet -o tables
  dyntrace convert trace --to csv -o tables
  dyntrace convert trace --to ctf2 -o trace-ctf2

Files get the access rights that all files of the trace have. Existing files are replaced.

Exit status:
   0  the trace was converted
   1  the output cannot be written
   2  wrong use
   3  events of the trace were lost
   4  the trace is damaged
  66  there is no such trace, or it cannot be read";

#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of a recording, or of one process in it; several are converted as one
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// The format
    #[arg(long, value_enum)]
    to: Format,
    /// The file to write, or the folder if the format has several files
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
}

pub fn convert(Arguments { traces, to, output }: &Arguments) -> Outcome {
    if matches!(to, Format::Ctf1 | Format::Ctf2) && traces.len() > 1 {
        return Err(Failure::new(
            exit::USAGE,
            anyhow!("cannot convert several traces to CTF: traces are converted one at a time"),
        ));
    }
    let trace = recording::open(traces)?;
    match to {
        Format::Perfetto => perfetto::convert(&trace, output).map_err(anyhow::Error::new),
        Format::Parquet => parquet::convert(&trace, output),
        Format::Csv => csv::convert(&trace, output),
        Format::Ctf1 => ctf(&traces[0], output, dyntrace_reader::Format::Ctf1),
        Format::Ctf2 => ctf(&traces[0], output, dyntrace_reader::Format::Ctf2),
    }
    .with_context(|| format!("cannot write {}", escape::path(output)))?;
    let losses = trace.losses();
    losses::say(&losses);
    Ok(losses::status(&losses))
}

/// Copies the trace to the folder `output`, with metadata of that format.
fn ctf(trace: &Path, output: &Path, format: dyntrace_reader::Format) -> anyhow::Result<()> {
    // As in the other commands that write traces, the folder may exist if it is empty.
    let _ = dyntrace_folders::remove_empty(output);
    dyntrace_reader::convert(trace, output, format)?;
    Ok(())
}
