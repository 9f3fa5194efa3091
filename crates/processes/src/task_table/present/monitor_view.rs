//! The table as the monitor of its own program sees it.

use std::array;
use std::ops::RangeInclusive;
use std::panic::Location;

use dyntrace_task_table::layout::{self, SLOT_WORDS, Slot, Task, Text, slot};

use super::Operation;
use super::polls;
use super::program::table;
use super::table::Table;

/// A poll that lasts.
#[derive(Clone, Copy, Debug)]
pub struct Poll {
    /// The thread's id.
    pub thread: u32,
    /// The number in the pid of the task.
    pub pid: u64,
    /// When the poll began, in cycles.
    pub since: u64,
    slot: u32,
    cell: &'static polls::Poll,
}

/// The facts of a task that do not change while it is polled. All are `None` for a task without a slot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// Its function.
    pub function: Option<&'static str>,
    /// Where it was spawned.
    pub place: Option<&'static Location<'static>>,
    /// Its user tag.
    pub tag: Option<String>,
}

/// A wait that lasts.
pub struct Wait {
    table: &'static Table,
    task: Task,
    wait: layout::Wait,
}

/// The thing that a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// A resource, by its number.
    Numbered(u64),
    /// A name; `None` if the table had no space for it.
    Named(Option<&'static str>),
    /// A process, by the number in its pid.
    Process(u64),
    /// A file operation.
    Operation(Operation),
}

/// The polls that threads are in: of each thread the innermost one.
pub fn polls() -> impl Iterator<Item = Poll> {
    polls::all().filter_map(|cell| {
        let (thread, polls::Current { slot, pid, since }) = cell.look()?;
        Some(Poll { thread, pid, since, slot, cell })
    })
}

impl Poll {
    /// Whether it still lasts.
    pub fn lasts(&self) -> bool {
        self.cell
            .look()
            .is_some_and(|(thread, now)| (thread, now.pid, now.since) == (self.thread, self.pid, self.since))
    }

    /// The facts of its task.
    pub fn about(&self) -> About {
        let Some(table) = table() else { return About::default() };
        let task = table.slot(self.slot, self.pid).and_then(task).filter(|task| task.pid == self.pid);
        task.map_or_else(About::default, |task| about(table, &task))
    }
}

/// The number of tasks in the table.
pub fn tasks() -> usize {
    table().map_or(0, Table::used)
}

/// Calls `each` for each wait of the table that began in these cycles. Reads two words of each slot.
pub fn waits(began: &RangeInclusive<u64>, mut each: impl FnMut(Wait)) {
    let Some(table) = table() else { return };
    for slot in table.slots() {
        let is_long = Text::Wait.of(slot.word(slot::TEXTS)) != 0 && began.contains(&slot.word(slot::SINCE));
        if is_long
            && let Some(task) = task(slot)
            && let Some(wait) = task.wait
            && began.contains(&wait.since)
        {
            each(Wait { table, task, wait });
        }
    }
}

impl Wait {
    /// The number in the pid of the task.
    pub fn pid(&self) -> u64 {
        self.task.pid
    }

    /// When it began, in cycles.
    pub fn since(&self) -> u64 {
        self.wait.since
    }

    /// The facts of the task.
    pub fn about(&self) -> About {
        about(self.table, &self.task)
    }

    /// The operation, and where the task waits.
    pub fn site(&self) -> (Option<&'static str>, Option<&'static Location<'static>>) {
        constant(self.table, self.wait.site)
    }

    pub fn resource(&self) -> Waited {
        match self.wait.resource {
            layout::Resource::Numbered(number) => Waited::Numbered(number),
            layout::Resource::Named(name) => Waited::Named(constant(self.table, name).0),
            layout::Resource::Process(pid) => Waited::Process(pid),
            layout::Resource::Operation { thread, tag } => Waited::Operation(Operation { thread, tag }),
        }
    }
}

/// The contents of a slot. `None` if it is free, or changes all the time.
fn task(slot: &Slot) -> Option<Task> {
    let (first, others) = slot.copied()?;
    let words: [u64; SLOT_WORDS] = array::from_fn(|word| if word == 0 { first } else { others[word - 1] });
    Task::of(&words)
}

fn about(table: &Table, task: &Task) -> About {
    let (function, place) = constant(table, task.site);
    let tag = table.texts().tag_of(task.tag).map(str::to_owned);
    About { function, place, tag }
}

fn constant(table: &Table, reference: u32) -> (Option<&'static str>, Option<&'static Location<'static>>) {
    table.texts().constant_of(reference).map_or((None, None), |(text, place)| (Some(text), place))
}
