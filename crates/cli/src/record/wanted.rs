//! Which events are to be recorded, as the user says it: at the start of a session, and later.

use dyntrace::process::Pid;
use dyntrace::recorder::{Filter, Glob};

use crate::view::names;

/// The arguments that say it.
#[derive(clap::Args)]
pub struct Wanted {
    /// Only such probes: efile_drv*, aio_pool-add, shop:*
    #[arg(long, value_name = "GLOBS", value_delimiter = ',')]
    probes: Vec<String>,
    /// Only events with such a user tag, where they have one, and file operations with it
    #[arg(long, value_name = "GLOB")]
    tag: Option<String>,
    /// Only file operations of this command, by name or number: RENAME
    #[arg(long, value_name = "NAME", value_parser = names::command)]
    command: Option<i32>,
    /// Only file operations on such a path, their first or their second: '/var/*'
    #[arg(long, value_name = "GLOB")]
    path: Option<String>,
    /// Only events and file operations of this process, as traces name it: '<0.57.0>'
    #[arg(long, value_name = "PID")]
    process: Option<Pid>,
    /// Only file operations of the thread with this number, the first of tag={1,7}
    #[arg(long, value_name = "NUMBER")]
    thread: Option<i64>,
    /// Record at most so many events of each probe in a second, and so many whole file operations; the others count as lost
    #[arg(long, value_name = "NUMBER")]
    rate: Option<u32>,
    /// Only those events that say that something failed, where they say such things
    #[arg(long)]
    failed: bool,
}

impl Wanted {
    /// The probes.
    pub fn probes(&self) -> Vec<Glob> {
        self.probes.iter().map(|glob| glob.replace("__", "-").into()).collect()
    }

    /// Which of their events.
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
