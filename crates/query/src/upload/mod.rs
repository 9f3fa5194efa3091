//! `dyntrace upload`: copies a data set into an object store.
//!
//! # What a reader of the store sees
//!
//! A converter never changes a file with rows: a range of a source has the same files with the same content in each run, as its plan says.
//! So a copy is a file of the same name and size, and each run may be killed, repeated, or meet another one. A turn has four steps:
//!
//! 1. The plans. Those that the store has must be equal: if one differs, someone has converted the recording to other ranges, and both
//!    together would have rows twice. So nothing of that source is uploaded. The store takes a new plan only if it has none of that name.
//! 2. The files with rows, each by one request or by parts that become a file at the end.
//! 3. The tables that are one file and are replaced: `clocks`. One without rows never replaces another.
//! 4. The lists of the files of ranges that are done, each only if the store has all these files.
//!
//! The folder is read in the opposite order, so that it may grow meanwhile: lists, then files, then plans. Nothing is ever deleted.

mod carrier;
mod follow;
mod inventory;
mod summary;
mod turn;

#[cfg(test)]
mod failing;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use clap::Parser;
use dyntrace_folders::{Reading, make_folder};
use dyntrace_terminal::escape;

use crate::exit::{self, Failure};
use crate::store::{StorePlace, Store};
use crate::{columns, standard_error};
use summary::Summary;
use turn::Uploader;

const HELP: &str = "\
Examples:
  dyntrace upload fleet s3://traces/fleet
  dyntrace upload fleet s3://traces/fleet --follow --every 60s
  dyntrace upload fleet file:///mnt/traces/fleet --json
  AWS_ENDPOINT_URL=http://minio:9000 AWS_ALLOW_HTTP=true dyntrace upload fleet s3://traces/fleet

Copies what the store lacks. Symbolic links, pipes and devices are left out and told. The command can be killed at any time, and started again; several can run at once. It deletes nothing, neither \
in the folder nor in the store.

Environment, as other programs for S3 have it: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION; AWS_ENDPOINT_URL \
for servers other than Amazon's, AWS_ALLOW_HTTP=true for one without TLS.

Exit status:
   0  the store has all files; with --follow, an interrupt ended the command
   1  the store cannot be reached, or some files were left out: each is told
   2  wrong use
  66  there is no such data set, or it cannot be read";

/// Copy a data set of traces into an object store
#[derive(Parser)]
#[command(name = "dyntrace-upload", bin_name = "dyntrace upload", version, after_long_help = HELP, max_term_width = 100)]
struct Arguments {
    /// The folder of the data set, as dyntrace convert --partition makes it
    folder: PathBuf,
    /// Where it goes: s3://BUCKET/PREFIX, or file:///FOLDER
    url: PathBuf,
    /// Go on with what is new, until an interrupt
    #[arg(long)]
    follow: bool,
    /// How long --follow waits after each turn
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, requires = "follow")]
    every: Duration,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the program `dyntrace-upload`. Returns its exit status.
pub fn upload() -> ExitCode {
    standard_error::status(perform(&Arguments::parse()))
}

fn perform(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let target = StorePlace::read(&arguments.url)?;
    check(arguments)?;
    let store = open(&target)?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start threads")?;
    let mut uploader = Uploader::new(arguments.folder.clone(), store);
    let status = if arguments.follow {
        runtime.block_on(follow::follow(&mut uploader, arguments.every))?;
        ExitCode::SUCCESS
    } else {
        let left_out = runtime.block_on(uploader.turn())?;
        left_out.iter().for_each(|reason| standard_error::warn(reason));
        if left_out.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    };
    uploader.summary.print(arguments.json)?;
    Ok(status)
}

/// Checks that the folder has that of a table, and that the target is a URL: a name without a scheme is mostly a forgotten `s3://`.
fn check(Arguments { folder, url, .. }: &Arguments) -> Result<(), Failure> {
    if !url.to_string_lossy().contains("://") {
        let error = anyhow!("{} is no URL: write s3://BUCKET/PREFIX or file:///FOLDER", escape::path(url));
        return Err(Failure::new(exit::USAGE, error));
    }
    let shown = escape::path(folder);
    let fail = |error: anyhow::Error| Failure::new(exit::NO_TRACE, error);
    let data_set = Reading::open(folder).with_context(|| format!("cannot read the data set {shown}")).map_err(fail)?;
    for table in columns::tables() {
        let is_there = data_set.has_folder(table);
        if is_there.with_context(|| format!("cannot look at {shown}/{table}")).map_err(fail)? {
            return Ok(());
        }
    }
    Err(fail(anyhow!(
        "{shown} is no data set: it has no folder of a table; make one by dyntrace convert RECORDINGS --to parquet --partition \
         host,date,hour -o {shown}"
    )))
}

/// Opens the target. A folder is created.
fn open(target: &StorePlace) -> Result<Store, Failure> {
    if let StorePlace::Folder(folder) = target {
        make_folder(folder, 0o777).with_context(|| format!("cannot create the folder {}", escape::path(folder)))?;
    }
    target.open()
}

/// Reads `60s`, `1.5m` or `200ms`.
fn duration(text: &str) -> Result<Duration, String> {
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let read = units.iter().find_map(|(unit, seconds)| Some(text.strip_suffix(unit)?.parse::<f64>().ok()? * seconds));
    let duration = read.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| "expected a number with a unit, like 60s, 1.5m or 200ms".to_owned())
}
