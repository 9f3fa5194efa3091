//! `dyntrace ps --dead`: the tasks in a table that a program keeps, or has left behind.

mod lines;
mod object;

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use dyntrace_task_table::{Clock, Error, Seen, State, Table};
use jiff::tz::TimeZone;

use super::look::print;
use crate::escape;
use crate::exit::{Failure, Outcome};

/// Prints the tasks: as JSON, or `each` in a line of its own, or those that are alike in one.
pub fn ps(path: &Path, as_json: bool, each: bool) -> Outcome {
    let mut table = read(path)?;
    table.tasks.sort_unstable_by_key(|seen| seen.task.pid);
    if as_json {
        let mut out = BufWriter::new(io::stdout().lock());
        serde_json::to_writer_pretty(&mut out, &object::Listed::of(&table))
            .map_err(io::Error::from)
            .and_then(|()| out.write_all(b"\n"))
            .and_then(|()| out.flush())
            .context("cannot write to standard output")?;
    } else {
        print(&lines::text(&table, each, &TimeZone::system()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> Result<Table, Failure> {
    let table = open(path).map_err(Error::Read).and_then(|file| Table::read(&file));
    let shown = escape::path(path);
    Ok(table.with_context(|| format!("cannot read the table of tasks {shown}"))?)
}

/// Without waiting for a writer of a pipe.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits()).open(path)?;
    let is_file = file.metadata()?.is_file();
    if is_file { Ok(file) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")) }
}

/// The gaps of the table.
fn notes(table: &Table) -> Vec<String> {
    let header = &table.header;
    let told = |count: u64, is: &str| (count > 0).then(|| format!("{count} {is}"));
    let full = format!("tasks are missing: they found no slot in the table, which has {} at most", header.limit);
    let no_clock = "the program was killed while it wrote its clock: there are no times";
    [
        told(header.without_slot, &full),
        told(header.without_space, "texts are missing: functions, places, tags or names found no space"),
        told(table.unsettled, "slots are left out: they were changing, or the program was killed while they changed"),
        told(table.damaged_texts, "texts are damaged"),
        told(table.cut, "slots are missing: the file is cut"),
        table.clock.is_none().then(|| no_clock.to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn state(seen: &Seen) -> &'static str {
    match seen.task.state {
        State::Scheduled => "scheduled",
        State::Running => "running",
        State::Idle => "idle",
    }
}

/// Since when it has its state, in cycles.
fn since(seen: &Seen) -> u64 {
    let task = &seen.task;
    match task.state {
        State::Scheduled => task.spawned,
        State::Running => task.scheduled,
        // Its last poll ended then.
        State::Idle => task.scheduled.saturating_add(task.last as u64),
    }
}

fn pid(number: u64) -> String {
    format!("<0.{number}.0>")
}

fn reference(number: u64) -> String {
    format!("#Ref<0.{number}>")
}

/// `None` without a clock, or for a time that no clock shows.
fn realtime(clock: Option<Clock>, cycle: u64) -> Option<i64> {
    clock.and_then(|clock| i64::try_from(clock.realtime(cycle)).ok())
}

/// A text; `None` if it is missing.
fn known(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}
