//! The arguments of `dyntrace ps`, `dyntrace tree` and `dyntrace why`.

use std::path::PathBuf;

use dyntrace_programs::named;

use super::choose::{self, Chosen};

const PS_HELP: &str = "\
Examples:
  dyntrace ps 4711
  dyntrace ps server
  dyntrace ps -p 4711 --all --debug target/release/server.debug
  dyntrace ps -p 4711 --watch 1
  dyntrace ps --core core.4711 --exe target/release/server
  dyntrace ps -p 4711 --table
  dyntrace ps --dead /run/user/1000/dyntrace/4711.tasks

FUTURE is the task's. Where that is a framework's, as with a server's connections, the program's own
stands before it. AT is its outermost line that awaits; a running task has left it: \"after\" precedes
it. WAITS FOR is the innermost future: of a lock its address, free permits, and those the task lacks.
SPAWNED AT is the line that spawned it, if the program was built with tokio_unstable; else lines that
spawn a future of this type, each with a ?. Tasks that are alike share a line, unless --all is given.
On a terminal, columns go and cells are cut until the table fits.

Of a program that keeps a table of its tasks (DYNTRACE=tasks) the table is read, too: PID, SINCE, TAG,
POLLS, BUSY, LONGEST POLL, WOKEN BY and all that ends with * are from there. Polls and their times are
those of all tasks in the line together, the longest poll that of one. WOKEN BY made the last wake
before the last poll: a process, a task of the runtime by its ID, or a thread. A task without ID is in
the table only. Below, the number of tasks found is compared with the runtime's own count.
A core file has no time, so timers in it are unknown leaves; of descriptors it has only the numbers.

Exit status:
   0  the tasks were read
   1  the program cannot be read
   2  wrong use
   5  tasks, or what they wait for, are not known: a line says how many, and why
  65  there is no such process, or the program is no tokio program
With --stop a signal ends the command after its look, with 128 plus its number; a stop by the terminal
is ignored.";

const TREE_HELP: &str = "\
Examples:
  dyntrace tree -p 4711
  dyntrace tree -p 4711 17
  dyntrace tree -p 4711 'server::*'

Exit status:
   0  the tasks were read
   1  the program cannot be read, or has no such task
   2  wrong use
   5  tasks, or what they wait for, are not known: a line says how many, and why
  65  there is no such process, or the program is no tokio program
With --stop a signal ends the command after its look, with 128 plus its number; a stop by the terminal
is ignored.";

const WHY_HELP: &str = "\
Examples:
  dyntrace why -p 4711
  dyntrace why -p 4711 17
  dyntrace why -p 4711 'request 7'
  dyntrace why -p 4711 --cycles --json
  dyntrace why --dead /run/user/1000/dyntrace/4711.tasks

Holders of locks are found among the variables of suspended tasks, also in boxes, vectors and
futures. One that is held outside of tasks is not seen. A guard that was dropped by drop() may
still be seen: if that is possible, \"perhaps\" is printed. It is also printed if a task that runs,
or that could not be read, may be the holder, or if the lock itself notes another holder. A
deadlock is printed if two looks found it. So is a futurelock: a lock that tasks wait for, held by a
future that its task does not poll, because it awaits something else.

Tasks of a program that keeps a table of them (DYNTRACE=tasks) have a line with what it knows. Waits
that memory does not tell are told by the table, those for one resource together. A task that waits
there for the end of a process (task::JoinHandle), or for room in its mailbox, has that process below
it, and so on. Tasks that wait so for each other are a deadlock, unless one waits for something else,
too: the table has the last wait of each.
Of a program that links dyntrace, a task has its user tag, and a file operation its path and the
thread of the pool that runs it, with the system call that it is in.

With --json, the object has all tasks, and answer (yes, no or unknown: whether tasks are stuck),
deadlocks, futurelocks, table_deadlocks and blockers, by the address of the blocked task; with TASK
only of those that it names. One task's: jq '.blockers[\"94012345678976\"]'.

Exit status:
   0  a deadlock or a futurelock was found; or all tasks were seen, and there is none
   1  the program cannot be read, or has no such task
   2  wrong use
   5  none was found, and part of the program was not seen: a line says how many tasks, and why
  65  there is no such process, or the program is no tokio program
With --stop a signal ends the command after its look, with 128 plus its number; a stop by the terminal
is ignored.";

#[derive(clap::Args, Clone)]
pub struct Common {
    /// The process; or a core file, by --core
    #[arg(short, long, required_unless_present = "core", conflicts_with = "core")]
    pub pid: Option<u32>,
    /// A core file, instead of a process
    #[arg(long, value_name = "FILE", requires = "exe", conflicts_with_all = ["stop", "watch"])]
    pub core: Option<PathBuf>,
    /// The program of the core file; it may have been moved, but not built again
    #[arg(long, value_name = "PROG", requires = "core")]
    pub exe: Option<PathBuf>,
    /// Read only the table of tasks that the program keeps (DYNTRACE=tasks), and not its memory
    ///
    /// That takes less time and less of the reader's memory. The program's memory tells more: the futures that tasks await, tasks that are
    /// not in the table, and the holders of locks.
    #[arg(long, conflicts_with_all = ["core", "debug", "stop"])]
    pub table: bool,
    /// Print JSON, an object; with --watch one on a line for each look. docs/formats.md has its fields
    #[arg(long)]
    pub json: bool,
    /// The file with the program's debug information, or with its split units (.dwp), if it is not where debuggers look
    #[arg(long, value_name = "FILE")]
    pub debug: Option<PathBuf>,
    /// Stop the program for each look, some milliseconds; without it, tasks that change meanwhile are read again. A shell that has the
    /// program in the foreground puts it into the background
    #[arg(long)]
    pub stop: bool,
    /// Look again and again, and print the changes: + new tasks, - gone ones, ~ changed waits
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub watch: Option<std::time::Duration>,
}

/// At least a hundredth, so that watching does not load the machine.
fn seconds(text: &str) -> Result<std::time::Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    let wrong = || "it is not between 0.01 and 1000000".to_owned();
    if (0.01..=1e6).contains(&seconds) { Ok(std::time::Duration::from_secs_f64(seconds)) } else { Err(wrong()) }
}

/// List the tasks of a tokio program, running, in a core file, or in the table that it has left: what each waits for
///
/// The program needs no change, and no dyntrace: tasks are read from its memory, while it runs. Futures and lines come from its debug
/// information (debug = 2, in the program or in a file of its own); without, tasks and their states are listed.
#[derive(clap::Args)]
#[command(after_long_help = PS_HELP)]
#[command(mut_arg("pid", |pid| pid.required_unless_present_any(["core", "dead", "process"]).display_order(0)))]
pub struct Ps {
    #[command(flatten)]
    pub common: Common,
    /// The process, as with -p
    #[arg(value_name = "PID|NAME", value_parser = named::pid, conflicts_with_all = ["pid", "core", "dead"])]
    pub process: Option<u32>,
    /// A line for each task, also for tasks that are alike
    #[arg(short, long)]
    pub all: bool,
    /// The table of tasks that a program with DYNTRACE=tasks keeps, and leaves when it ends or is killed
    ///
    /// It is PID.tasks in $XDG_RUNTIME_DIR/dyntrace, or in /tmp/dyntrace-UID. The program does nothing for the reading.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pid", "core", "debug", "stop", "watch", "table"])]
    pub dead: Option<PathBuf>,
}

/// Draw the futures that the tasks of a tokio program await
///
/// Each future has the line of its await, and the locks among its variables. Trees of tasks that are alike are drawn once.
#[derive(clap::Args)]
#[command(after_long_help = TREE_HELP)]
pub struct Tree {
    #[command(flatten)]
    pub common: Common,
    /// A task by its id, or tasks by their futures or tags: a part of a name, or a pattern with *
    #[arg(value_name = "TASK|PATTERN", value_parser = choose::parse)]
    pub chosen: Option<Chosen>,
}

/// Tell why tasks of a tokio program wait: which task holds the lock, and deadlocks
#[derive(clap::Args)]
#[command(after_long_help = WHY_HELP)]
#[command(mut_arg("pid", |pid| pid.required_unless_present_any(["core", "dead"]).display_order(0)))]
pub struct Why {
    #[command(flatten)]
    pub common: Common,
    /// Only this task, by its id; or tasks by their futures or tags: a part of a name, or a pattern with *
    #[arg(value_name = "TASK|PATTERN", value_parser = choose::parse)]
    pub chosen: Option<Chosen>,
    /// Only deadlocks and futurelocks
    #[arg(long, conflicts_with = "chosen")]
    pub cycles: bool,
    /// The table of tasks that a program with DYNTRACE=tasks keeps, and leaves when it ends or is killed
    ///
    /// Durations are up to the last event of a task in it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pid", "core", "debug", "stop", "table", "watch"])]
    pub dead: Option<PathBuf>,
}
