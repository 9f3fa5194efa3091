//! `dyntrace query`: answers questions in SQL about a data set of traces.
//!
//! The command `dyntrace` runs this program for its subcommand `query`.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;
use dyntrace_terminal::{escape, say};

use crate::answer::Session;
use crate::data_set::DataSet;
use crate::exit::{self, Failure};
use crate::print::Format;
use crate::store::StorePlace;
use crate::{answer, memory, report, standard_error};

const HELP: &str = "\
Examples:
  dyntrace query fleet 'SELECT hostname, count(*) FROM operations GROUP BY hostname'
  dyntrace query fleet -f slowest.sql --json
  dyntrace query fleet --stats \"SELECT * FROM operations WHERE user_tag = 'req-1'\"
  dyntrace query fleet --report page.html
  dyntrace query fleet --report page.html --tag req-7 --new \"program = 'server-2'\"
  dyntrace query fleet 'DESCRIBE operations'
  dyntrace query fleet 'EXPLAIN ANALYZE SELECT max(duration_ns) FROM operations'
  dyntrace query s3://traces/fleet 'SELECT count(*) FROM losses'

The tables are events, operations, tasks, waits, messages, losses and clocks. Columns that a file does not have are null. The SQL is \
DataFusion's, with regexp_extract(text, pattern, group) as in DuckDB and Spark; nulls are sorted last.

The page of --report asks dyntrace's questions about a fleet, and has their SQL. It loads nothing and runs nothing. It tells first what is \
missing. It gets the access rights that all files of the data set have; of a data set behind a URL s3://, it is only its owner's. An \
existing file is replaced when the page is whole.

Environment for s3://, as other programs for S3 have it: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION; \
AWS_ENDPOINT_URL for servers other than Amazon's, AWS_ALLOW_HTTP=true for one without TLS, AWS_SKIP_SIGNATURE=true for a public bucket.

Exit status:
   0  the query was answered, or the page was written
   1  the query cannot be finished, or standard output or the page cannot be written
   2  wrong use, or wrong SQL
   3  the page was written: events of the data set were lost, or it is not known whether
   4  the page was written: recordings of the data set are damaged
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
    #[arg(value_name = "SQL", allow_hyphen_values = true, required_unless_present_any = ["file", "report"], conflicts_with = "file")]
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
    /// Write a page with the answers to the questions about a fleet to this HTML file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["query", "file", "json", "csv"])]
    report: Option<PathBuf>,
    /// The user tag of which the page shows the hops, instead of that of the slowest request
    // clap asks for no --report beside what excludes it.
    #[arg(long, requires = "report", conflicts_with_all = ["query", "file"])]
    tag: Option<String>,
    /// Which operations are of a new version, that the page compares with the others: a condition in SQL
    #[arg(long, value_name = "CONDITION", requires = "report", conflicts_with_all = ["query", "file"])]
    new: Option<String>,
    /// The most memory for what a query sorts, groups and joins, such as 2G [default: half of what is available]
    #[arg(long, value_name = "SIZE", value_parser = memory::size)]
    memory: Option<u64>,
    /// Tell on standard error how many bytes of the tables' files were read
    #[arg(long)]
    stats: bool,
}

/// Runs the program `dyntrace-query`. Returns its exit status.
pub fn query() -> ExitCode {
    standard_error::status(perform(&Arguments::parse()))
}

/// Returns the exit status: a page can be written of a data set with losses.
fn perform(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Runtime::new().context("cannot start threads")?;
    let place = StorePlace::read(&arguments.place)?;
    let memory = arguments.memory.or_else(memory::half_of_available);
    let open = || async { Session::new(DataSet::open(place.open()?).await?, memory) };
    let (usage, status) = match &arguments.report {
        Some(page) => {
            let folder = if let StorePlace::Folder(folder) = &place { folder } else { &arguments.place };
            let (tag, new) = (arguments.tag.as_deref(), arguments.new.as_deref());
            let options = report::Options { folder, page, tag, new };
            let told = runtime.block_on(async { report::report(open().await?, &options).await })?;
            told.lines.iter().for_each(|line| standard_error::warn(line));
            (told.usage, ExitCode::from(told.status))
        }
        None => {
            let query = text(arguments).map_err(|error| Failure::new(exit::USAGE, error))?;
            let answer = async { answer::answer(&open().await?, &query, format(arguments)).await };
            (runtime.block_on(answer)?, ExitCode::SUCCESS)
        }
    };
    if arguments.stats {
        say!("{usage}");
    }
    Ok(status)
}

/// Returns the text of the query.
fn text(arguments: &Arguments) -> anyhow::Result<String> {
    match (&arguments.query, &arguments.file) {
        (Some(query), _) => Ok(query.clone()),
        (None, file) => read(file.as_deref().unwrap_or(Path::new("-"))),
    }
}

fn format(arguments: &Arguments) -> Format {
    match arguments {
        Arguments { json: true, .. } => Format::Json,
        Arguments { csv: true, .. } => Format::Csv,
        _ => Format::Table,
    }
}

fn read(file: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let read = match file.to_str() {
        Some("-") => io::stdin().read_to_string(&mut text).map(|_| text),
        _ => std::fs::read_to_string(file),
    };
    read.with_context(|| format!("cannot read the query from {}", escape::path(file)))
}
