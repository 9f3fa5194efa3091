//! The rows of a source, from its events in the order of time.

use dyntrace_analysis::recorded_tasks::{self, TaskStep};
use dyntrace_analysis::render::operation::text;
use dyntrace_fleet::{Cell, Error, Loss, Plan, Tables};
use dyntrace_reader::{Event, FileOperation, FileOperations, Process};

use super::columns::{OPERATIONS, TASKS};
use super::events::Events;
use super::waits::Waits;
use super::{losses, messages};
use crate::convert::parquet::{operations, tasks};

/// Losses of the conversion, with their reasons.
const COUNTED: [(&str, &str); 4] = [
    ("unmatched", "events of operations whose entry is not in the trace"),
    ("given_up", "operations without a row: too many were in flight, or their number was used again"),
    ("left_out", "tasks without a row: too many were alive"),
    ("left_out", "waits that are not followed: too many waited"),
];

/// Joins the events of a source into rows. The state goes on from range to range.
#[derive(Default)]
pub struct Rows<'t> {
    events: Events,
    operations: FileOperations<'t>,
    tasks: recorded_tasks::Tasks<'t>,
    waits: Waits<'t>,
    /// The counts of `COUNTED` at the end of the range before.
    counted: [u64; 4],
}

impl<'t> Rows<'t> {
    /// Takes the next event. Writes the rows that it completes, unless the range is done.
    pub fn push(&mut self, event: &Event<'t>, mut to: Option<&mut Tables<'_>>) -> Result<(), Error> {
        if let Some(to) = to.as_deref_mut() {
            self.events.add(event, to)?;
            messages::add(event, to)?;
        }
        if let Some(operation) = self.operations.push(event)
            && let Some(to) = to.as_deref_mut()
        {
            let time = operation.completion.map_or(event.time, |answer| answer.time);
            add_operation(&operation, time, to)?;
        }
        if let Some(TaskStep::Ended(task)) = self.tasks.push(event)
            && let Some(to) = to.as_deref_mut()
        {
            add_task(&task, event.time, to)?;
        }
        if matches!(event.class.name.as_str(), "dyntrace:process-wait" | "dyntrace:process-resume") {
            let user_tag = self.tasks.tag_of(event.process, text(event, "proc"));
            self.waits.push(event, user_tag, to)?;
        }
        Ok(())
    }

    /// Ends a range. Writes the rows of its losses, and at the end of the source those in flight, unless the range is done.
    pub fn end(
        &mut self,
        plan: &Plan,
        before: Option<&Plan>,
        process: &Process,
        to: Option<&mut Tables<'_>>,
    ) -> Result<(), Error> {
        let now = [self.operations.unmatched(), self.operations.given_up(), self.tasks.left_out, self.waits.left_out];
        let counted = std::mem::replace(&mut self.counted, now);
        let Some(to) = to else { return Ok(()) };
        let new = COUNTED.iter().zip(now).zip(counted).filter(|((_, now), counted)| now > counted);
        let of_conversion = new.map(|(((kind, reason), now), counted)| {
            let (kind, reason) = ((*kind).to_owned(), (*reason).to_owned());
            Loss { kind, reason, count: Some(now - counted), ..Loss::default() }
        });
        for loss in plan.new_losses(before).into_iter().chain(of_conversion) {
            losses::add(&loss, plan.until, process, to)?;
        }
        if plan.is_last {
            for operation in self.operations.in_flight() {
                add_operation(operation, plan.until, to)?;
            }
            let mut alive: Vec<_> = self.tasks.alive().collect();
            // The same order in each run.
            alive.sort_by(|one, other| (one.spawned, &*one.proc).cmp(&(other.spawned, &*other.proc)));
            alive.into_iter().try_for_each(|task| add_task(task, plan.until, to))?;
            self.waits.finish(plan.until, process, to)?;
        }
        if before.is_none() { to.begin_all(plan.until) } else { Ok(()) }
    }

    /// How many operations, tasks and waits have begun and have no row yet.
    pub fn in_flight(&self) -> [usize; 3] {
        [self.operations.in_flight().count(), self.tasks.alive().count(), self.waits.count()]
    }
}

fn add_operation(operation: &FileOperation<'_>, time: i64, to: &mut Tables<'_>) -> Result<(), Error> {
    let row = operations::Row::of(operation);
    let own = operations::columns().count();
    let requester = operation.requester.as_ref().into_iter().flat_map(|requester| {
        let numbers = [requester.label, requester.previous, requester.current];
        let token = numbers.map(|number| Cell::Signed(number.into()));
        [Cell::Text(requester.process)].into_iter().chain(token).enumerate()
    });
    let time_cell = [(0, Cell::Signed(time))].into_iter();
    let cells = time_cell.chain(row.cells().map(|(at, cell)| (at + 1, cell)));
    to.row(OPERATIONS, time, cells.chain(requester.map(|(at, cell)| (at + 1 + own, cell))))
}

fn add_task(task: &recorded_tasks::Task<'_>, time: i64, to: &mut Tables<'_>) -> Result<(), Error> {
    let time_cell = [(0, Cell::Signed(time))].into_iter();
    to.row(TASKS, time, time_cell.chain(tasks::cells(task).map(|(at, cell)| (at + 1, cell))))
}
