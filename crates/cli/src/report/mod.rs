//! `dyntrace report`: a trace as one page for people.

mod chart;
mod flows;
pub mod format;
mod heat;
mod page;
mod row;
mod slowest;
mod summary;
mod table;
mod timeline;

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;

use crate::escape;
use crate::exit::Outcome;
use crate::{losses, private, trace};

use summary::Summary;

/// What `--help` says at its end.
pub const HELP: &str = "\
Examples:
  dyntrace report trace -o report.html
  dyntrace report trace-of-a trace-of-b -o both.html

The page is as readable as the trace, and no more. A file of its name is replaced.

Exit status:
   0  the page was written
   1  it cannot be written
   2  wrong use
   3  events of the trace were lost
   4  the trace is damaged
  66  there is no such trace, or it cannot be read";

/// What to show, and where.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of a trace; several are shown as one
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// The page to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Reads the traces once and writes the page.
pub fn report(Arguments { traces, output }: &Arguments) -> Outcome {
    let trace = trace::open(traces)?;
    let mut summary = None;
    for event in trace::events(&trace) {
        summary.get_or_insert_with(|| Summary::new(event.time)).add(&event);
    }
    let losses = trace.losses();
    let page = page::page(trace.processes(), summary, &losses);
    private::create(output, private::mode(&trace))
        .and_then(|mut file| file.write_all(page.as_bytes()))
        .with_context(|| format!("cannot write the page {}", escape::path(output)))?;
    losses::say(&losses);
    Ok(losses::status(&losses))
}
