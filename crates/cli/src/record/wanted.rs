//! Which events are to be recorded, as the user says it: at the start of a session, and later.

use dyntrace::recorder::{Filter, Glob};

use crate::view::names;

/// The arguments that say it.
#[derive(clap::Args)]
pub struct Wanted {
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
        filter.failed = self.failed;
        filter
    }
}
