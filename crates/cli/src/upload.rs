//! `dyntrace upload`: runs the program `dyntrace-upload`.

use std::ffi::OsString;

use dyntrace_terminal::exit::Outcome;

use crate::external;

const HELP: &str = "\
Examples:
  dyntrace upload fleet s3://traces/fleet
  dyntrace upload fleet s3://traces/fleet --follow --every 60s
  dyntrace upload --help

Runs the program dyntrace-upload with these arguments: the one beside dyntrace, else the first in PATH.
`cargo install dyntrace-query` installs it.

Exit status: that of dyntrace-upload:
    0  the store has all files; with --follow, an interrupt ended the command
    1  the store cannot be reached, or some files were left out: each is told
    2  wrong use
   66  there is no such data set, or it cannot be read
  126  dyntrace-upload cannot be run
  127  dyntrace-upload was not found";

/// Copy a data set of traces into an object store, by the program dyntrace-upload
#[derive(clap::Args)]
#[command(after_long_help = HELP, disable_help_flag = true)]
pub struct Arguments {
    /// The folder of the data set, the URL, and options: dyntrace upload --help has them
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Becomes the program.
pub fn upload(Arguments { arguments }: &Arguments) -> Outcome {
    external::become_program("dyntrace-upload", arguments)
}
