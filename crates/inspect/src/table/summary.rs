//! The table in the JSON object of a program's tasks.

use std::borrow::Cow;

use serde::Serialize;

use super::joined::JoinedTable;

/// The file, and how many tasks are where.
#[derive(Serialize)]
pub struct Summary<'k> {
    file: Cow<'k, str>,
    tasks: usize,
    only_here: usize,
    tasks_elsewhere: usize,
    jobs_elsewhere: usize,
    unpolled: usize,
}

impl<'k> Summary<'k> {
    pub fn of(kept: &'k JoinedTable) -> Summary<'k> {
        let [tasks_elsewhere, jobs_elsewhere] = kept.without;
        Summary {
            file: kept.path.to_string_lossy(),
            tasks: kept.table.tasks.len(),
            only_here: kept.others.len(),
            tasks_elsewhere,
            jobs_elsewhere,
            unpolled: kept.unpolled,
        }
    }
}
