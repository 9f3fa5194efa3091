//! `dyntrace ps --dead`: the tasks in a table that a program keeps, or has left behind.

mod lines;
mod object;

use std::path::Path;
use std::process::ExitCode;

use dyntrace_terminal::exit::Outcome;
use dyntrace_terminal::stdout;
use jiff::tz::TimeZone;

use super::look::print;
use super::table::{ReadTable, read_file};

/// Prints the tasks: as JSON, or `each` in a line of its own, or those that are alike in one.
pub fn ps(path: &Path, as_json: bool, each: bool) -> Outcome {
    let ReadTable { mut table, now, .. } = read_file(path)?;
    table.tasks.sort_unstable_by_key(|seen| seen.task.pid);
    if as_json {
        stdout::write_json(&object::Listed::of(&table), false)?;
    } else {
        print(&lines::text(&table, now, each, &TimeZone::system()))?;
    }
    Ok(ExitCode::SUCCESS)
}
