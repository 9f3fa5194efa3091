//! `dyntrace report`: a trace as one HTML page.

mod chart;
mod flows;
pub mod format;
mod heat;
pub mod page;
mod queue_length;
pub mod requests;
mod slowest;
mod summary;
mod table;
mod tasks;
mod timeline;

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use dyntrace_terminal::exit::Outcome;
use dyntrace_terminal::{escape, private};

use crate::{losses, recording};

use summary::Summary;

const HELP: &str = "\
Examples:
  dyntrace report trace -o report.html
  dyntrace report trace-of-a trace-of-b -o both.html

Where user tags are one a request, the page shows how long requests take, and where the time of the
slowest went: waits for a thread, the jobs, and the time between operations. Tags are taken for
requests if there are more than a hundred, or at least ten, half of which last less than a quarter of
the recording.

The page gets the access rights that all files of the trace have. An existing file is replaced, and
the page gets no rights that it lacks. Symbolic links of other users are not followed.

Exit status:
   0  the page was written
   1  the page cannot be written
   2  wrong use
   3  events of the trace were lost
   4  the trace is damaged
   5  the trace has no event and no end: it is not known whether events are missing
  66  there is no such trace, or it cannot be read";

/// Write a trace as one self-contained HTML page
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// The folder of a recording, or of one process in it; several are shown as one
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// The HTML file to write; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub fn report(Arguments { traces, output }: &Arguments) -> Outcome {
    let trace = recording::open(traces)?;
    let mut summary = None;
    for event in recording::events(&trace) {
        summary.get_or_insert_with(|| Summary::new(event.time)).add(&event);
    }
    let losses = trace.losses();
    let page = page::page(trace.processes(), summary, &losses);
    private::replace(output, recording::mode(&trace))
        .and_then(|mut file| file.write_all(page.as_bytes()).and_then(|()| file.finish()))
        .with_context(|| format!("cannot write the page {}", escape::path(output)))?;
    losses::say(&losses);
    Ok(losses::status(&losses))
}
