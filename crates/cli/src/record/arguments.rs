//! What the user asks `dyntrace record` for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use dyntrace::recorder::{Mode, Options};

use crate::view::names;

/// The examples and the exit statuses.
pub const HELP: &str = "\
Examples:
  dyntrace record -- target/release/server --port 8080
  dyntrace record -o trace --probes 'efile_drv*,aio_pool*' --tag 'req-*' -- target/release/server
  dyntrace record --overwrite --size 4M -- target/release/server
  dyntrace record -p 4711 -o trace --command RENAME --failed

A pattern has * for any text and ? for one character. Sizes may end in K, M or G.

Exit status: that of the command, 128 and the signal's number if a signal ended it. Where that is 0, and with -p:
    0  everything was recorded
    1  the trace cannot be read or ended
    2  wrong use
    3  events were lost
    4  the trace is damaged
   65  nothing was recorded: the program has no recorder, or does not let it be controlled
  126  the command cannot be run
  127  the command was not found";

/// The arguments of `dyntrace record`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder for the trace, which must be new or empty [default: trace, or trace-2 and so on]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Record a running process, until an interrupt or until it ends
    #[arg(short, long, conflicts_with = "command_line", value_parser = clap::value_parser!(u32).range(1..))]
    pub pid: Option<u32>,
    /// Only such probes: efile_drv*, aio_pool-add, shop:*
    #[arg(long, value_name = "GLOBS", value_delimiter = ',')]
    probes: Vec<String>,
    /// Only events with such a user tag, where they have one
    #[arg(long, value_name = "GLOB")]
    tag: Option<String>,
    /// Only events of this command of the file driver, by name or number: RENAME
    #[arg(long, value_name = "NAME", value_parser = names::command)]
    command: Option<i32>,
    /// Only those events that say that something failed, where they say such things
    #[arg(long)]
    failed: bool,
    /// Keep the newest events of each thread, not all of them; dyntrace snapshot takes them out meanwhile
    #[arg(long)]
    overwrite: bool,
    /// The most that is kept of one thread, in bytes [default: 1G, with --overwrite 1M]
    #[arg(long, value_name = "BYTES", value_parser = size)]
    size: Option<u64>,
    /// Print the last line as JSON
    #[arg(long)]
    pub json: bool,
    /// The command to start and record, with its arguments
    #[arg(last = true, required_unless_present = "pid", value_name = "COMMAND")]
    pub command_line: Vec<OsString>,
}

impl Arguments {
    /// What to record, into `directory`.
    pub fn options(&self, directory: &Path) -> Options {
        let mut options = Options::new(directory);
        options.mode = if self.overwrite { Mode::Overwrite } else { Mode::Stream };
        options.probes = self.probes.iter().map(|glob| glob.as_str().into()).collect();
        options.size = self.size;
        options.filter.tag = self.tag.as_deref().map(Into::into);
        options.filter.command = self.command.map(Into::into);
        options.filter.failed = self.failed;
        options
    }
}

/// A size as the recorder understands it.
fn size(text: &str) -> Result<u64, String> {
    let options = format!("record:/,size={}", text.replace(',', "\\,"));
    let options: Options = options.parse().map_err(|error: dyntrace::recorder::OptionsError| error.to_string())?;
    options.size.ok_or_else(|| "expected a number of bytes".to_owned())
}
