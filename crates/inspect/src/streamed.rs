//! `ps` of a running program, each task of which is told as it is read, and then forgotten: a program may have a million.

use std::borrow::Cow;

use dyntrace_task_table::TaskEntry;
use dyntrace_tasks::census::CensusTask;
use dyntrace_tasks::coverage::{Answer, Coverage};
use dyntrace_tasks::listing::Task;
use dyntrace_tasks::program::Program;
use dyntrace_tasks::reading::{Described, Each};
use dyntrace_terminal::exit::Failure;

use super::groups::Groups;
use super::ps::{Totals, drawn, foot, rows};
use super::read::{Opened, REFUSED, alone, failure, of_program, process};
use super::table::{self, Rows};

/// The lines of tasks that are alike, and the foot.
pub fn text(opened: &Opened<'_, '_>, width: Option<usize>) -> Result<(String, Answer), Failure> {
    let streamed = match opened {
        Opened::Memory { program, described, is_stopped } => of_memory(program, described, *is_stopped, width)?,
        Opened::Table(pid, note) => Some(of_table(*pid, note.as_deref(), width)?),
        Opened::Dead(_) => None,
    };
    if let Some((text, told)) = streamed {
        return Ok((text, told.answer(false)));
    }
    let look = opened.look()?;
    Ok((super::ps::text(&look, false, width), look.told().answer(false)))
}

/// The tasks of the table alone.
fn of_table(pid: u32, note: Option<&str>, width: Option<usize>) -> Result<(String, Coverage), Failure> {
    let (found, mut notes) = alone(table::read_compact(pid, false, &table::mappings(pid))?, pid, note)?;
    let kept = Rows::of(found, std::iter::empty());
    let mut groups = Groups::default();
    let counts = kept.others([0, 0], |seen| groups.add_row(seen, kept.times()));
    notes.extend(kept.notes(&counts));
    let rows = rows(groups.list().iter(), true, false);
    let told = Coverage::with_gaps(note.map(|_| REFUSED.to_owned()).into_iter().collect());
    Ok((drawn(rows, width) + &foot(String::new(), Some(&counts), &told, &notes), told))
}

/// The tasks of one thread.
#[derive(Default)]
struct Part {
    groups: Groups<'static>,
    totals: Totals,
    told: Coverage,
    /// Tasks and jobs that are not in the table.
    without: [usize; 2],
    last: Option<TaskEntry>,
}

impl Part {
    fn add(&mut self, task: Task, rows: Option<&Rows>) {
        self.totals.add(&task);
        let seen = rows.and_then(|rows| rows.of_task(&task, &mut self.last));
        if seen.is_none() && !task.state.complete {
            self.without[usize::from(task.owner == 0)] += 1;
        }
        self.told.add(&task, seen.is_some());
        self.groups.add(Cow::Owned(task), seen, rows.map(Rows::times));
    }

    fn append(&mut self, others: Part) {
        self.groups.append(others.groups);
        self.totals.append(others.totals);
        self.told.append(others.told);
        self.without.iter_mut().zip(others.without).for_each(|(without, others)| *without += others);
    }
}

/// `None` if tasks must be compared with each other to find out which one of the table each is.
fn of_memory(
    program: &Program,
    described: &Described<'_>,
    is_stopped: bool,
    width: Option<usize>,
) -> Result<Option<(String, Coverage)>, Failure> {
    let read = |tasks: &[CensusTask]| {
        let found = of_program(program, |pid, maps| table::read_compact(pid, is_stopped, maps));
        found.map(|found| found.map(|found| Rows::of(found, tasks.iter().map(|task| task.id))))
    };
    let add = |rows: &anyhow::Result<Option<Rows>>, part: &mut Part, task| {
        part.add(task, rows.as_ref().ok().and_then(Option::as_ref));
    };
    let Each { parts, beside, mut rest } = program.each_task(described, read, add).map_err(failure)?;
    let mut all = Part::default();
    parts.into_iter().for_each(|part| all.append(part));
    let kept = beside.unwrap_or_else(|error| {
        rest.notes.push(format!("{error:#}"));
        None
    });
    if kept.as_ref().is_some_and(Rows::are_unsure) {
        return Ok(None);
    }
    let counts = kept.as_ref().map(|kept| {
        let counts = kept.others(all.without, |seen| all.groups.add_row(seen, kept.times()));
        rest.notes.extend(kept.notes(&counts));
        counts
    });
    let rows = rows(all.groups.list().iter(), kept.is_some(), false);
    let mut told = all.told;
    told.end(&rest.runtimes, &rest.unread);
    if process(program).is_some() && !is_stopped {
        told = told.also_in(&Coverage::default());
    }
    let foot = foot(all.totals.text(&rest.runtimes), counts.as_ref(), &told, &rest.notes);
    Ok(Some((drawn(rows, width) + &foot, told)))
}
