//! Reads a program's tasks, as often as a command looks.

use std::fmt;
use std::path::Path;

use anyhow::Result;
use dyntrace_task_table::TaskEntry;
use dyntrace_tasks::error::Error;
use dyntrace_tasks::listing::{Holder, Listing, Task};
use dyntrace_tasks::memory::live::Process;
use dyntrace_tasks::memory::maps::Mapping;
use dyntrace_tasks::program::{Options, Program};
use dyntrace_tasks::reading::{DebugInformation, Described};
use dyntrace_tasks::stuck::Stuck;
use dyntrace_terminal::escape;
use dyntrace_terminal::exit::{self, Failure, Outcome};

use super::table::row::pid;
use super::table::{self, JoinedTable, ReadTable, TaskGroup};
use super::words;

/// The process or core file that a command reads.
pub enum Target<'a> {
    Process(u32),
    /// The table of tasks that a process keeps, without its memory.
    Table(u32),
    Core {
        core: &'a Path,
        exe: &'a Path,
    },
    /// The table that a program has left, or keeps.
    Dead(&'a Path),
}

/// `process 4711`, or `core file core.4711`.
impl fmt::Display for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Process(pid) | Target::Table(pid) => write!(f, "process {pid}"),
            Target::Core { core, .. } => write!(f, "core file {}", escape::path(core)),
            Target::Dead(table) => write!(f, "table of tasks {}", escape::path(table)),
        }
    }
}

impl Target<'_> {
    /// The options of a command that name it.
    pub fn options(&self) -> String {
        match self {
            Target::Process(pid) => format!("-p {pid}"),
            Target::Table(pid) => format!("-p {pid} --table"),
            Target::Core { core, exe } => format!("--core {} --exe {}", escape::path(core), escape::path(exe)),
            Target::Dead(table) => format!("--dead {}", escape::path(table)),
        }
    }

    /// Whether its tasks may be others at a later look.
    pub fn runs(&self) -> bool {
        matches!(self, Target::Process(_) | Target::Table(_))
    }
}

/// The tasks of a program at about one time.
#[derive(Debug, Default)]
pub struct Look {
    /// The tasks in its memory.
    pub listing: Listing,
    /// Whether its memory could be read. If not, its table was.
    pub has_memory: bool,
    /// Whether its tasks may have changed while they were read.
    pub runs: bool,
    /// Why its memory could not be read, if that was asked for.
    pub refused: Option<String>,
    /// Its table of tasks, if it keeps one.
    pub kept: Option<JoinedTable>,
}

impl Look {
    /// A look at memory alone.
    pub fn of_memory(listing: Listing) -> Look {
        Look { listing, has_memory: true, ..Look::default() }
    }

    /// The tasks that will not go on by themselves.
    pub fn stuck(&self) -> Stuck {
        self.kept.as_ref().map_or_else(|| Stuck::of(&self.listing), |kept| Stuck::of_both(&self.listing, kept))
    }

    /// The task of the table that a task in memory is.
    pub fn row(&self, task: &Task) -> Option<&TaskEntry> {
        self.kept.as_ref()?.of_task(task)
    }

    /// The tasks that are in the table only.
    pub fn others(&self) -> impl Iterator<Item = (&JoinedTable, &TaskEntry)> {
        self.kept.iter().flat_map(|kept| kept.others().map(move |seen| (kept, seen)))
    }

    /// The table's facts about tasks in memory that are alike. `None` if none of them is in it.
    pub fn line(&self, group: &[&Task]) -> Option<String> {
        let rows: Vec<&TaskEntry> = group.iter().filter_map(|task| self.row(task)).collect();
        if rows.is_empty() { None } else { Some(TaskGroup::of_all(&rows, self.kept.as_ref()?.times()).line()) }
    }

    /// A holder as its lock notes it, with the time if the table's clock tells it.
    pub fn holder(&self, holder: &Holder) -> String {
        let since = self.held(holder).map(|since| format!(" for {}", words::duration(since))).unwrap_or_default();
        let place =
            holder.place.as_ref().map(|place| format!(", taken at {}", words::place(place))).unwrap_or_default();
        format!("held by {}{since}{place}", pid(holder.pid))
    }

    /// The same, if the time is known: the rest is also told with the holder's guard.
    pub fn holder_since(&self, holder: &Holder) -> Option<String> {
        self.held(holder).map(|_| self.holder(holder))
    }

    fn held(&self, holder: &Holder) -> Option<u64> {
        self.kept.as_ref().filter(|_| holder.since != 0)?.times().age(holder.since)
    }

    /// Gaps of both sources.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.listing.notes.clone();
        notes.extend(self.kept.iter().flat_map(JoinedTable::notes));
        notes
    }
}

/// The gap of a table that is read in the place of memory.
pub const REFUSED: &str = "the program's memory was not read";

/// A program, or a table, that was opened.
pub enum Opened<'a, 'd> {
    Memory {
        program: &'a Program,
        described: &'a Described<'d>,
        /// Whether its threads are stopped while it is read.
        is_stopped: bool,
    },
    /// The table of a process. With a note, there was one when the command began.
    Table(u32, Option<String>),
    Dead(&'a Path),
}

impl Opened<'_, '_> {
    /// Reads all tasks as they are now.
    pub fn look(&self) -> Result<Look, Failure> {
        match self {
            Opened::Memory { program, described, is_stopped } => {
                let table = || of_program(program, |pid, maps| table::read(pid, *is_stopped, maps));
                let (listing, table) = program.listing_beside(described, table).map_err(failure)?;
                let mut look = Look { runs: process(program).is_some() && !is_stopped, ..Look::of_memory(listing) };
                match table {
                    Ok(table) => look.kept = table.map(|table| JoinedTable::of(table, Some(&look.listing))),
                    Err(error) => look.listing.notes.push(format!("{error:#}")),
                }
                Ok(look)
            }
            Opened::Table(pid, note) => {
                let (found, notes) = alone(table::read(*pid, false, &table::mappings(*pid))?, *pid, note.as_deref())?;
                let listing = Listing { notes, ..Listing::default() };
                let refused = note.as_ref().map(|_| REFUSED.to_owned());
                Ok(Look { listing, refused, kept: Some(JoinedTable::of(found, None)), ..Look::default() })
            }
            Opened::Dead(path) => {
                let kept = Some(JoinedTable::of(table::read_file(path)?, None));
                Ok(Look { kept, ..Look::default() })
            }
        }
    }
}

/// Reads the table of a running program, by the mappings that were read last.
pub fn of_program<T>(program: &Program, read: impl FnOnce(u32, &[Mapping]) -> Result<Option<T>>) -> Result<Option<T>> {
    let process = program.memory().process();
    process.map_or(Ok(None), |process| read(process.pid(), &process.last_mappings()))
}

/// The id of a running program.
pub fn process(program: &Program) -> Option<u32> {
    program.memory().process().map(Process::pid)
}

/// Opens `target`, and gives `looks` a function that reads its tasks as they are at each call.
pub fn with(
    target: &Target<'_>,
    options: Options,
    looks: impl FnOnce(&dyn Fn() -> Result<Look, Failure>) -> Outcome,
) -> Outcome {
    open(target, options, |opened| looks(&|| opened.look()))
}

/// Opens `target`.
pub fn open(target: &Target<'_>, options: Options, read: impl FnOnce(&Opened<'_, '_>) -> Outcome) -> Outcome {
    let is_stopped = options.stop;
    let program = match target {
        Target::Process(pid) => match Program::attach(*pid, options) {
            Err(error)
                if may_have_table(&error)
                    && matches!(table::read(*pid, false, &table::mappings(*pid)), Ok(Some(_))) =>
            {
                let note = format!("these are the tasks of the program's table alone: {error}");
                return read(&Opened::Table(*pid, Some(note)));
            }
            program => program,
        },
        Target::Table(pid) => return read(&Opened::Table(*pid, None)),
        Target::Core { core, exe } => Program::open_core(core, exe, options),
        Target::Dead(path) => return read(&Opened::Dead(path)),
    };
    let program = program.map_err(failure)?;
    let information = DebugInformation::of(&program);
    let described = Described::of(&program, &information);
    read(&Opened::Memory { program: &program, described: &described, is_stopped })
}

/// Whether a program whose memory this error keeps from being read may have a table. The others are of the user's options.
fn may_have_table(error: &Error) -> bool {
    matches!(
        error,
        Error::NoVtables { .. } | Error::OtherLayout { .. } | Error::NotPermitted { .. } | Error::NotMapped { .. }
    )
}

/// The table of a process that is read alone, and the notes. With a note, there was one when the command began.
pub fn alone<T>(
    found: Option<ReadTable<T>>,
    pid: u32,
    note: Option<&str>,
) -> Result<(ReadTable<T>, Vec<String>), Failure> {
    match (found, note) {
        (Some(found), note) => Ok((found, note.map(str::to_owned).into_iter().collect())),
        (None, Some(_)) => Err(failure(Error::Ended { pid })),
        (None, None) => Err(Failure::new(
            exit::NO_PROBES,
            anyhow::anyhow!(
                "cannot read a table of tasks of process {pid}: there is no such process, it keeps none, or it belongs to \
                 another user; start it with DYNTRACE=tasks, or leave out --table"
            ),
        )),
    }
}

pub fn failure(error: Error) -> Failure {
    let status = match error {
        Error::NoProcess { .. } | Error::Zombie { .. } | Error::NoVtables { .. } => exit::NO_PROBES,
        Error::CoreLacksMemory { .. } | Error::OtherLayout { .. } => exit::UNKNOWN,
        _ => 1,
    };
    // The messages contain their sources; paths in them are the program's.
    Failure::new(status, anyhow::Error::msg(escape::name(error.to_string())))
}
