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
        let counts = &kept.counts;
        let [tasks_elsewhere, jobs_elsewhere] = counts.without;
        Summary {
            file: counts.path.to_string_lossy(),
            tasks: counts.tasks,
            only_here: counts.others,
            tasks_elsewhere,
            jobs_elsewhere,
            unpolled: counts.unpolled,
        }
    }
}
