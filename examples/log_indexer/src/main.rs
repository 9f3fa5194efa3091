//! Indexes the terms of log files in directories. Each directory is a request with a user tag of its own, so a tracer shows the
//! request for which each file is read.
//!
//! ```text
//! dyntrace run efile_drv -- target/release/log_indexer -o index.json /var/log
//! ```

mod index;
mod report;
mod request;
mod terms;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::Semaphore;

use index::Index;
use request::{RequestFiles, Shared};

const HELP: &str = "\
Examples:
  log_indexer /var/log                          the 20 terms that are in the most files
  log_indexer -o index.json /var/log /srv/log   two requests, req-1 and req-2; the whole index goes to a file
  log_indexer --json --top 3 logs | jq .top

Exit status:
  0    all files were read and the index was written
  1    a file could not be read, or the index not be written; the rest is done
  2    wrong arguments
  130  interrupted while reading; no index was written";

/// Index the terms of log files in directories
///
/// Each directory is a request, with the user tag req-1, req-2 and so on; all files in and below it are read concurrently. A term is a word
/// of 3 to 64 ASCII letters, digits and underscores with at least one letter; case is ignored.
#[derive(Parser)]
#[command(after_help = HELP)]
struct Arguments {
    /// Write the index to this file, as JSON
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
    /// Number of terms to report
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    top: usize,
    /// Number of files to read concurrently
    #[arg(long, value_name = "COUNT", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    files: u16,
    /// Directories
    #[arg(required = true, value_name = "DIRECTORY")]
    directories: Vec<PathBuf>,
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    // The progress bar hides itself if standard error is no terminal.
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} files").expect("the template is right");
    let progress = ProgressBar::new(0).with_style(style);
    let interrupted = tokio::signal::ctrl_c();

    let found = tokio::select! {
        found = read_all(&arguments, &progress) => found?,
        signal = interrupted => {
            signal.context("cannot listen for interrupts")?;
            // A finished bar would show 100 %.
            let (read, all) = (progress.position(), progress.length().unwrap_or(0));
            progress.finish_and_clear();
            eprintln!("log_indexer: interrupted after {read} of {all} files; no index was written");
            return Ok(ExitCode::from(130));
        }
    };
    progress.finish_and_clear();

    let index = Index::new(&found);
    let output = arguments.output.as_deref();
    if let Some(output) = output {
        // Too short to need interruption.
        let written = dyntrace::with_tag("index", index.write(output)).await;
        written.with_context(|| format!("cannot write the index to {output:?}"))?;
    }
    let report = match arguments.json {
        true => report::json(&index, &found, arguments.top, output),
        false => report::text(&index, arguments.top, output),
    };
    io::stdout().write_all(report.as_bytes()).context("cannot write the report")?;
    let mut status = ExitCode::SUCCESS;
    for (path, error) in found.iter().flat_map(|found| &found.failed) {
        eprintln!("log_indexer: cannot read {path:?}: {error}");
        status = ExitCode::FAILURE;
    }
    Ok(status)
}

/// Runs all requests concurrently.
async fn read_all(arguments: &Arguments, progress: &ProgressBar) -> anyhow::Result<Vec<RequestFiles>> {
    let shared = Shared { files: Arc::new(Semaphore::new(arguments.files.into())), progress: progress.clone() };
    let requests = arguments.directories.iter().zip(1..).map(|(directory, number)| {
        dyntrace::spawn(request::run(format!("req-{number}"), directory.clone(), shared.clone()))
    });
    let mut found = Vec::new();
    for request in requests.collect::<Vec<_>>() {
        found.push(request.await??);
    }
    Ok(found)
}
