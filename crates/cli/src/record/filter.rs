//! The options that select events, for the start of a session and for its change.

use std::path::Path;

use anyhow::anyhow;
use dyntrace::process::Pid;
use dyntrace::recorder::{Filter, Glob};
use dyntrace_analysis::losses;
use dyntrace_analysis::view::names;
use dyntrace_programs::elf::Object;
use dyntrace_programs::probe_names::Names;
use dyntrace_programs::process;
use dyntrace_terminal::escape;
use dyntrace_terminal::exit::{self, Failure};

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

    /// Tells which globs of probes match none of `program`, a file that can be read at `readable`. Fails if none matches.
    pub fn check_program(&self, program: &Path, readable: &Path) -> Result<(), Failure> {
        // A script, or a program that starts others, says nothing about their probes.
        self.check(&escape::path(program), Object::read(readable).into_iter())
    }

    /// The same for a process, with the files that it has loaded.
    pub fn check_process(&self, pid: u32) -> Result<(), Failure> {
        if self.probes.is_empty() {
            return Ok(());
        }
        // If they cannot be read, the process tells why when it is asked to record.
        let files = process::loaded(pid).unwrap_or_default();
        let objects = files.iter().filter_map(|file| Object::read_mapped(&file.readable).ok());
        self.check(&format!("process {pid}"), objects)
    }

    fn check(&self, shown: &str, objects: impl Iterator<Item = Object>) -> Result<(), Failure> {
        if self.probes.is_empty() {
            return Ok(());
        }
        let there: Vec<String> = objects
            .flat_map(|object| object.notes)
            .map(|note| format!("{}:{}", note.provider, note.name.replace("__", "-")))
            .collect();
        if there.is_empty() {
            return Ok(());
        }
        let names = Names::own()?.with(there);
        let globs: Vec<String> = self.probes.iter().map(|glob| glob.replace("__", "-")).collect();
        let unknown: Vec<&String> = globs.iter().filter(|glob| !names.has(glob)).collect();
        let lacks = |glob: &String| {
            let meant = names.did_you_mean(glob);
            format!("{shown} has no probe that matches {}. {meant}dyntrace list shows its probes", escape::name(glob))
        };
        if unknown.len() == globs.len() {
            let later = "; if a library that is loaded later has it, name a probe of the program beside it";
            return Err(Failure::new(
                exit::NO_PROBES,
                anyhow!(unknown.into_iter().map(lacks).collect::<Vec<_>>().join("\n") + later),
            ));
        }
        unknown.into_iter().for_each(|glob| losses::warn(&lacks(glob)));
        Ok(())
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
