//! The `dyntrace` command: its arguments.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(all(test, target_os = "linux"))]
mod book;
#[cfg(target_os = "linux")]
mod code;
mod demo;
mod doctor;
#[cfg(all(feature = "full", target_os = "linux"))]
mod export;
mod external;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(all(test, target_os = "linux"))]
#[path = "../../tasks/src/filtered.rs"]
mod filtered;
mod list;
#[cfg(all(feature = "full", target_os = "linux"))]
mod metrics;
#[cfg(target_os = "linux")]
mod monitor;
#[cfg(all(test, target_os = "linux"))]
#[path = "../tests/common/page.rs"]
mod page;
mod query;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod records;
#[cfg(target_os = "linux")]
mod recover;
#[cfg(target_os = "linux")]
mod snapshot;
#[cfg(target_os = "linux")]
mod status;
#[cfg(feature = "full")]
mod top;
#[cfg(target_os = "linux")]
mod trace;
mod upload;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{CommandFactory as _, Parser, Subcommand};
use dyntrace_analysis::{diff, report, view};
#[cfg(feature = "full")]
use dyntrace_formats::{clocks, convert};
#[cfg(target_os = "linux")]
use dyntrace_inspect as inspect;
use dyntrace_runs::run;
use dyntrace_terminal::exit::{Failure, Outcome};
use dyntrace_terminal::{escape, say, stdout};

/// Trace Rust programs that use dyntrace: run tracing scripts, record events, list probes, check a machine
#[derive(Parser)]
#[command(name = "dyntrace", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[command(after_long_help = demo::HELP)]
    /// Record a small program and show its events: no tracer, no root
    Demo(demo::Arguments),
    #[command(after_long_help = run::HELP)]
    /// Run a script on a command or a process
    ///
    /// Uses the first installed tracer that can run the script: on Linux bpftrace, DTrace 2, SystemTap; elsewhere DTrace. The command
    /// runs as the same user as dyntrace and is traced from its first instruction. On Linux without a usable tracer, shipped scripts use
    /// the built-in recorder, which writes to TMPDIR, and print the same lines. The trace goes to standard output, with control
    /// characters escaped.
    Run(run::Arguments),
    #[command(after_long_help = list::HELP)]
    /// List the probes of a program or a process
    List(list::Arguments),
    #[command(after_long_help = doctor::HELP)]
    /// Check whether this machine can trace programs, and whether a program can be traced
    Doctor(doctor::Arguments),
    #[cfg(target_os = "linux")]
    #[command(after_long_help = record::HELP)]
    /// Record a program by its built-in recorder: no tracer, no privileges
    ///
    /// The program writes its events to files, one for each thread, which survive a crash. Programs that it starts do the same. A running
    /// process opens its control socket when it is asked to, at its next file operation, message or call of a traced function. The kernel
    /// lets root ask, and the process's user unless kernel.yama.ptrace_scope forbids it. A process that called
    /// dyntrace::recorder::control(), or has DYNTRACE=control in its environment, has the socket from the start.
    Record(record::Arguments),
    #[cfg(target_os = "linux")]
    #[command(after_long_help = snapshot::HELP)]
    /// Write the last events of a process to a trace
    Snapshot(snapshot::Arguments),
    #[cfg(target_os = "linux")]
    #[command(after_long_help = filter::HELP)]
    /// Change which events a recorded process records
    Filter(filter::Arguments),
    #[cfg(target_os = "linux")]
    #[command(after_long_help = recover::HELP)]
    /// Recover a trace after a crash or damage
    Recover(recover::Arguments),
    #[cfg(target_os = "linux")]
    #[command(alias = "sessions", after_long_help = status::HELP)]
    /// Show the processes whose recorder can be controlled, and their recordings
    Status(status::Arguments),
    #[cfg(all(feature = "full", target_os = "linux"))]
    #[command(after_long_help = metrics::HELP)]
    /// Print or serve the metrics of a process: operations, errors, bytes, times and queues
    ///
    /// They are counted in each program that links dyntrace, without a tracer or a recording. A process that has no control socket is asked
    /// to open one, as by dyntrace record -p.
    Metrics(metrics::Arguments),
    #[cfg(target_os = "linux")]
    #[command(after_long_help = monitor::HELP)]
    /// Tell when a poll, a wait, a mailbox or a queue of a process becomes too long, while it lasts
    Monitor(monitor::Arguments),
    #[cfg(all(feature = "full", target_os = "linux"))]
    #[command(after_long_help = export::HELP)]
    /// Send the file operations of a running process to a collector, as spans of OpenTelemetry, while they happen
    ///
    /// A process that has no control socket is asked to open one, as by dyntrace record -p.
    Export(export::Arguments),
    #[cfg(feature = "full")]
    #[command(after_long_help = top::HELP)]
    /// Watch a process: operations, user tags, tasks, waits, messages and pools, live or in a trace
    ///
    /// A process that has no control socket is asked to open one, as by dyntrace record -p.
    Top(top::Arguments),
    #[command(after_long_help = report::HELP)]
    /// Write a trace as one self-contained HTML page
    Report(report::Arguments),
    #[command(after_long_help = diff::HELP)]
    /// Compare two traces: counts, errors and times by command, user tag, function and resource
    ///
    /// A is the trace from before, B the one from after. A percentile differs if the confidence intervals in A and in B do not overlap.
    /// The rows that differ most come first. User tags and paths that differ in numbers and ids only are one row: req-*.
    Diff(diff::Arguments),
    #[cfg(feature = "full")]
    #[command(after_long_help = convert::HELP)]
    /// Convert a trace to the format of another tool
    Convert(convert::Arguments),
    #[cfg(feature = "full")]
    #[command(after_long_help = clocks::HELP)]
    /// Align the clocks of the hosts of a data set by the messages between them
    Clocks(clocks::Arguments),
    #[command(after_long_help = query::HELP, disable_help_flag = true)]
    /// Ask a data set of traces in SQL, by the program dyntrace-query
    Query(query::Arguments),
    #[command(after_long_help = upload::HELP, disable_help_flag = true)]
    /// Copy a data set of traces into an object store, by the program dyntrace-upload
    Upload(upload::Arguments),
    #[command(after_long_help = view::HELP)]
    /// Show the events of a recorded trace
    ///
    /// Prints the lines of the shipped scripts, in the order of time, and events of other probes with the names of their fields. Lost
    /// events are reported at the end, on standard error.
    View(view::Arguments),
    #[cfg(target_os = "linux")]
    #[command(after_long_help = trace::HELP)]
    /// Trace function calls in a running process
    ///
    /// Patterns select functions with the attribute #[dyntrace::traced]. No thread of the process stops while they are set or removed.
    /// Each call is a line with the local time, its thread, its process and its user tag. Counts are a table, which a terminal shows
    /// updated each second.
    Trace(trace::Arguments),
    #[cfg(target_os = "linux")]
    #[command(after_long_help = code::HELP)]
    /// Load, upgrade and purge modules of a running process
    ///
    /// Modules are libraries made with dyntrace::module!. No caller stops: a call that is inside a module finishes in the version that
    /// it entered, a later call enters the new version.
    Code(code::Arguments),
    #[cfg(target_os = "linux")]
    #[command(after_long_help = inspect::diagnose::HELP)]
    /// Name the causes for which requests of a running tokio program wait: the worst, each with its function and evidence
    ///
    /// The program needs no change, and no dyntrace: its threads and tasks are looked at for some seconds, while it runs.
    Diagnose(inspect::diagnose::Arguments),
    #[cfg(target_os = "linux")]
    #[command(after_long_help = inspect::PS_HELP)]
    /// List the tasks of a tokio program, running, in a core file, or in the table that it has left: what each waits for
    ///
    /// The program needs no change, and no dyntrace: tasks are read from its memory, while it runs. Futures and lines come from its debug
    /// information (debug = 2, in the program or in a file of its own); without, tasks and their states are listed.
    Ps(inspect::Ps),
    #[cfg(target_os = "linux")]
    #[command(after_long_help = inspect::TREE_HELP)]
    /// Draw the futures that the tasks of a tokio program await
    ///
    /// Each future has the line of its await, and the locks among its variables. Trees of tasks that are alike are drawn once.
    Tree(inspect::Tree),
    #[cfg(target_os = "linux")]
    #[command(after_long_help = inspect::WHY_HELP)]
    /// Tell why tasks of a tokio program wait: which task holds the lock, and deadlocks
    Why(inspect::Why),
    #[cfg(target_os = "linux")]
    #[command(after_long_help = inspect::threads::HELP)]
    /// List the threads of a running tokio program: the task, the functions and the system call that each is in
    ///
    /// Threads that differ in ids and times only share a block. Functions are named by symbols, and have lines where debug information
    /// tells them.
    Threads(inspect::threads::Arguments),
    #[cfg(target_os = "linux")]
    #[command(after_long_help = inspect::polls::HELP)]
    /// Count the polls of a running tokio program: how long they take, how long woken tasks wait, and which function wakes which
    ///
    /// The program needs no change. bpftrace puts probes on the functions that poll and wake tasks, and counts in the kernel.
    Polls(inspect::polls::Arguments),
    /// Print completions for a shell
    #[command(hide = true)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages
    #[command(hide = true)]
    Man {
        /// The folder for them
        folder: PathBuf,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = perform(arguments.command).and_then(|status| Ok(stdout::flush().map(|()| status)?));
    match outcome {
        Ok(status) => status,
        // The reader of the pipe wants no more lines.
        Err(Failure { error, .. }) if stdout::is_unread(&error) => ExitCode::SUCCESS,
        Err(Failure { status, error }) => {
            let style = anstyle::Style::new().fg_color(Some(anstyle::AnsiColor::Red.into())).bold();
            // Errors of libraries have paths as they are.
            say!("{style}dyntrace:{style:#} {}", escape::lines(format!("{error:#}")));
            status.into()
        }
    }
}

fn perform(command: Command) -> Outcome {
    match command {
        Command::Demo(arguments) => demo::demo(&arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::List(arguments) => list::list(&arguments),
        Command::Doctor(arguments) => doctor::doctor(&arguments),
        #[cfg(target_os = "linux")]
        Command::Record(arguments) => record::record(&arguments),
        #[cfg(target_os = "linux")]
        Command::Snapshot(arguments) => snapshot::snapshot(&arguments),
        #[cfg(target_os = "linux")]
        Command::Filter(arguments) => filter::filter(&arguments),
        #[cfg(target_os = "linux")]
        Command::Recover(arguments) => recover::recover(&arguments),
        #[cfg(target_os = "linux")]
        Command::Status(arguments) => status::status(&arguments),
        #[cfg(all(feature = "full", target_os = "linux"))]
        Command::Metrics(arguments) => metrics::metrics(&arguments),
        #[cfg(target_os = "linux")]
        Command::Monitor(arguments) => monitor::monitor(&arguments),
        #[cfg(all(feature = "full", target_os = "linux"))]
        Command::Export(arguments) => export::export(&arguments),
        #[cfg(feature = "full")]
        Command::Top(arguments) => top::top(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Diff(arguments) => diff::diff(&arguments),
        #[cfg(feature = "full")]
        Command::Convert(arguments) => convert::convert(&arguments),
        #[cfg(feature = "full")]
        Command::Clocks(arguments) => clocks::clocks(&arguments),
        Command::Query(arguments) => query::query(&arguments),
        Command::Upload(arguments) => upload::upload(&arguments),
        Command::View(arguments) => view::view(&arguments),
        #[cfg(target_os = "linux")]
        Command::Trace(arguments) => trace::trace(&arguments),
        #[cfg(target_os = "linux")]
        Command::Code(arguments) => code::code(&arguments),
        #[cfg(target_os = "linux")]
        Command::Diagnose(arguments) => inspect::diagnose::diagnose(&arguments),
        #[cfg(target_os = "linux")]
        Command::Ps(arguments) => inspect::ps(&arguments),
        #[cfg(target_os = "linux")]
        Command::Tree(arguments) => inspect::tree(&arguments),
        #[cfg(target_os = "linux")]
        Command::Why(arguments) => inspect::why(&arguments),
        #[cfg(target_os = "linux")]
        Command::Threads(arguments) => inspect::threads::threads(&arguments),
        #[cfg(target_os = "linux")]
        Command::Polls(arguments) => inspect::polls::polls(&arguments),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "dyntrace", &mut text);
            stdout::write(&String::from_utf8_lossy(&text))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Man { folder } => {
            clap_mangen::generate_to(Arguments::command(), &folder)
                .with_context(|| format!("cannot write to {}", escape::path(&folder)))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
