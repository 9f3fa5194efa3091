//! `dyntrace query`: answers questions in SQL about a data set of traces.
//!
//! The command `dyntrace` runs this program for its subcommand `query`.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;

use crate::data_set::DataSet;
use crate::exit::{self, Failure};
use crate::print::Format;
use crate::store::Place;
use crate::{answer, escape, told};

const HELP: &str = "\
Examples:
  dyntrace query fleet 'SELECT hostname, count(*) FROM operations GROUP BY hostname'
  dyntrace query fleet -f slowest.sql --json
  dyntrace query fleet --stats \"SELECT * FROM operations WHERE user_tag = 'req-1'\"
  dyntrace query fleet 'DESCRIBE operations'
  dyntrace query fleet 'EXPLAIN ANALYZE SELECT max(duration_ns) FROM operations'
  dyntrace query s3://traces/fleet 'SELECT count(*) FROM losses'

The tables are events, operations, tasks, waits, messages, losses and clocks. Columns that a file does not have are null. The SQL is \
DataFusion's, with regexp_extract(text, pattern, group) as in DuckDB and Spark; nulls are sorted last.

Environment for s3://, as other programs for S3 have it: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION; \
AWS_ENDPOINT_URL for servers other than Amazon's, AWS_ALLOW_HTTP=true for one without TLS, AWS_SKIP_SIGNATURE=true for a public bucket.

Exit status:
   0  the query was answered
   1  the query cannot be finished, or standard output cannot be written
   2  wrong use, or wrong SQL
  66  there is no such data set, or it cannot be read";

/// Ask a data set of traces in SQL
#[derive(Parser)]
#[command(name = "dyntrace-query", bin_name = "dyntrace query", version, after_long_help = HELP, max_term_width = 100)]
struct Arguments {
    /// The folder of the data set, as dyntrace convert --partition makes it; or its URL: s3://BUCKET/PREFIX
    #[arg(value_name = "FOLDER")]
    place: PathBuf,
    /// The query
    // It may begin with a comment.
    #[arg(value_name = "SQL", allow_hyphen_values = true, required_unless_present = "file", conflicts_with = "file")]
    query: Option<String>,
    /// Read the query from this file; - is standard input
    #[arg(short, long, value_name = "FILE.sql")]
    file: Option<PathBuf>,
    /// Print a JSON array with an object for each row
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print CSV with a line of names
    #[arg(long)]
    csv: bool,
    /// Tell on standard error how many bytes of the tables' files were read
    #[arg(long)]
    stats: bool,
}

/// Runs the program `dyntrace-query`. Returns its exit status.
pub fn query() -> ExitCode {
    told::status(perform(&Arguments::parse()))
}

fn perform(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let query = match (&arguments.query, &arguments.file) {
        (Some(query), _) => query.clone(),
        (None, file) => {
            read(file.as_deref().unwrap_or(Path::new("-"))).map_err(|error| Failure::new(exit::USAGE, error))?
        }
    };
    let store = Place::read(&arguments.place)?.open()?;
    let format = match arguments {
        Arguments { json: true, .. } => Format::Json,
        Arguments { csv: true, .. } => Format::Csv,
        _ => Format::Table,
    };
    let runtime = tokio::runtime::Runtime::new().context("cannot start threads")?;
    let usage = runtime.block_on(async { answer::answer(DataSet::open(store).await?, &query, format).await })?;
    if arguments.stats {
        told::say(&usage.to_string());
    }
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let read = match file.to_str() {
        Some("-") => io::stdin().read_to_string(&mut text).map(|_| text),
        _ => std::fs::read_to_string(file),
    };
    read.with_context(|| format!("cannot read the query from {}", escape::path(file)))
}
