//! `dyntrace convert`: a trace in the format of another tool.

mod csv;
mod otlp;
mod parquet;
mod partition;
mod perfetto;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::ValueEnum;
use dyntrace_analysis::{losses, recording};
use dyntrace_terminal::escape;
use dyntrace_terminal::exit::{self, Failure, Outcome};

use crate::otlp::Sampling;

#[derive(Clone, Copy, ValueEnum)]
pub enum Format {
    /// Slices and counters for ui.perfetto.dev: a file
    Perfetto,
    /// Tables of events, of operations and of tasks: a folder with three files, or with --partition a data set
    Parquet,
    /// A table for each probe, with its fields as columns: a folder with CSV files
    Csv,
    /// The Common Trace Format 1.8, for babeltrace2 2.0 and newer: a folder, which must be new or empty
    #[value(name = "ctf1.8")]
    Ctf1,
    /// The Common Trace Format 2, for babeltrace2 2.1 and newer: a folder, which must be new or empty
    Ctf2,
    /// Spans of OpenTelemetry: to a collector, or a file with lines of JSON for its receiver otlpjsonfile
    Otlp,
}

const HELP: &str = "\
Examples:
  dyntrace convert trace --to perfetto -o trace.perfetto
  dyntrace convert trace-of-a trace-of-b --to parquet -o tables
  dyntrace convert traces/* --to parquet --partition host,date,hour -o fleet
  dyntrace convert trace --to otlp --slow 10ms --failed --one-in 100 -o spans.jsonl
  dyntrace convert trace --to otlp -o http://127.0.0.1:4318

OTLP has a span for each operation. It belongs to
  the trace in its user tag, if that is a traceparent or has 32 hexadecimal digits;
  else to one trace with all operations of the process that have its tag, within a span for the tag;
  without a tag, likewise to one with all that have its label of a sequential trace;
  else to a trace of its own.
A collector gets OTLP by HTTP in JSON, at /v1/traces unless the address has another path.

With --partition, the folder has a folder for each table; dyntrace clocks gives the table clocks its
rows. A run adds the rows that are not there yet, each once, also if an earlier run was killed or
another one runs at the same time. A trace that cannot be read is told, and the others are converted.

With --follow, SIGINT, SIGTERM and SIGHUP end the command after a last round, as the end of the
recordings does. The second of them ends it at once; the next run writes the missing rows.

Files get the access rights that all files of the trace have. Existing files are replaced, those of a
data set never.

Exit status:
   0  the trace was converted
   1  the output cannot be written, or the collector takes not all of it
   2  wrong use
   3  events of the trace were lost
   4  the trace is damaged
   5  the trace has no event and no end: it is not known whether events are missing
  66  there is no such trace, or it cannot be read";

/// Convert a trace to the format of another tool
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// The folder of a recording, or of one process in it; several are converted as one
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// The format
    #[arg(long, value_enum)]
    to: Format,
    /// The file to write (- is standard output), or the folder if the format has several files; for otlp also http://HOST:PORT of a collector
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    #[command(flatten)]
    sampling: Sampling,
    #[command(flatten)]
    partition: partition::Partition,
}

pub fn convert(Arguments { traces, to, output, sampling, partition }: &Arguments) -> Outcome {
    if sampling.is_given() && !matches!(to, Format::Otlp) {
        return Err(Failure::new(
            exit::USAGE,
            anyhow!("--slow, --failed, --tag and --one-in are for --to otlp: other formats have all events"),
        ));
    }
    if matches!(to, Format::Ctf1 | Format::Ctf2) && traces.len() > 1 {
        return Err(Failure::new(
            exit::USAGE,
            anyhow!("cannot convert several traces to CTF: traces are converted one at a time"),
        ));
    }
    if partition.is_given() && !matches!(to, Format::Parquet) {
        return Err(Failure::new(
            exit::USAGE,
            anyhow!("--partition is for --to parquet: other formats have no data sets"),
        ));
    }
    if partition.is_given() {
        return partition::convert(traces, output, partition);
    }
    let trace = recording::open(traces)?;
    if let Ok(folder) = output.canonicalize()
        && trace.processes().iter().any(|process| process.path.canonicalize().is_ok_and(|path| path == folder))
    {
        return Err(Failure::new(
            exit::USAGE,
            anyhow!(
                "{} is a folder of the trace itself: readers would take new files there for its own",
                escape::path(output)
            ),
        ));
    }
    let mut left_out = Vec::new();
    match to {
        Format::Perfetto => perfetto::convert(&trace, output).map_err(anyhow::Error::new),
        Format::Parquet => parquet::convert(&trace, output),
        Format::Csv => csv::convert(&trace, output),
        Format::Ctf1 => ctf(&traces[0], output, dyntrace_reader::Format::Ctf1, &mut left_out),
        Format::Otlp => otlp::convert(&trace, output, sampling).map_err(anyhow::Error::new),
        Format::Ctf2 => ctf(&traces[0], output, dyntrace_reader::Format::Ctf2, &mut left_out),
    }
    .with_context(|| format!("cannot write {}", escape::path(output)))?;
    let mut losses = trace.losses();
    left_out.retain(|damage| !losses.damaged.contains(damage));
    losses.damaged.append(&mut left_out);
    losses::say(&losses);
    Ok(losses::status(&losses))
}

/// Copies the trace to the folder `output`, with metadata of that format. No events are read, so `left_out` gets the damage.
fn ctf(
    trace: &Path,
    output: &Path,
    format: dyntrace_reader::Format,
    left_out: &mut Vec<dyntrace_reader::Damage>,
) -> anyhow::Result<()> {
    // As in the other commands that write traces, the folder may exist if it is empty.
    let _ = dyntrace_folders::remove_empty(output);
    *left_out = dyntrace_reader::convert(trace, output, format)?.damaged;
    Ok(())
}
