//! The options that select events, for the start of a session and for its change.

use dyntrace::process::Pid;
use dyntrace::recorder::{Filter, Glob};

use crate::view::names;

#[derive(clap::Args)]
pub struct FilterArguments {
    /// Only matching probes: efile_drv*, aio_pool-add, shop:*; '*' has polls and wakes of tasks, too, which are left out otherwise
    #[arg(long, value_name = "GLOBS", value_delimiter = ',')]
    probes: Vec<String>,
    /// Only events and file operations whose user tag matches; probes without a user tag are not filtered
    #[arg(long, value_name = "GLOB")]
    tag: Option<String>,
    /// Only file operations of this command, by name or number: RENAME
    #[arg(long, value_name = "NAME", value_parser = names::command)]
    command: Option<i32>,
    /// Only file operations whose first or second path matches: '/var/*'
    #[arg(long, value_name = "GLOB")]
    path: Option<String>,
    /// Only events and file operations of this process, by its name in traces: '<0.57.0>'
    #[arg(long, value_name = "PID")]
    process: Option<Pid>,
    /// Only file operations of the thread with this number: 1 in tag={1,7}
    #[arg(long, value_name = "NUMBER")]
    thread: Option<i64>,
    /// Record at most this many events of each probe per second, and as many whole file operations; others count as lost
    #[arg(long, value_name = "NUMBER")]
    rate: Option<u32>,
    /// Only failures; probes that cannot report one are not filtered
    #[arg(long)]
    failed: bool,
}

impl FilterArguments {
    pub fn probes(&self) -> Vec<Glob> {
        self.probes.iter().map(|glob| glob.replace("__", "-").into()).collect()
    }

    pub fn filter(&self) -> Filter {
        let mut filter = Filter::default();
        filter.tag = self.tag.as_deref().map(Into::into);
        filter.command = self.command.map(Into::into);
        filter.path = self.path.as_deref().map(Into::into);
        filter.process = self.process;
        filter.thread = self.thread;
        filter.rate = self.rate;
        filter.failed = self.failed;
        filter
    }
}
