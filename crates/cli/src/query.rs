//! `dyntrace query`: runs the program `dyntrace-query`.

use std::ffi::OsString;

use dyntrace_terminal::exit::Outcome;

use crate::external;

const HELP: &str = "\
Examples:
  dyntrace query fleet 'SELECT hostname, count(*) FROM operations GROUP BY hostname'
  dyntrace query fleet -f slowest.sql --json
  dyntrace query fleet --stats \"SELECT * FROM operations WHERE user_tag = 'req-1'\"
  dyntrace query fleet --report page.html
  dyntrace query s3://traces/fleet 'SELECT count(*) FROM losses'
  dyntrace query --help

Runs the program dyntrace-query with these arguments: the one beside dyntrace, else the first in PATH.
`cargo install dyntrace-query` installs it.

Exit status: that of dyntrace-query:
    0  the query was answered, or the page was written
    1  the query cannot be finished, or standard output or the page cannot be written
    2  wrong use, or wrong SQL
    3  the page was written: events of the data set were lost, or it is not known whether
    4  the page was written: recordings of the data set are damaged
   66  there is no such data set, or it cannot be read
  126  dyntrace-query cannot be run
  127  dyntrace-query was not found";

/// Ask a data set of traces in SQL, by the program dyntrace-query
#[derive(clap::Args)]
#[command(after_long_help = HELP, disable_help_flag = true)]
pub struct Arguments {
    /// The folder of the data set or its URL, the query, and options: dyntrace query --help has them
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Becomes the program.
pub fn query(Arguments { arguments }: &Arguments) -> Outcome {
    external::become_program("dyntrace-query", arguments)
}
