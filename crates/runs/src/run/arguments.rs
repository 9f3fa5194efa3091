//! The arguments of `dyntrace run`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use dyntrace_analysis::view::time::{duration, length};

use super::choose::By;

const HELP: &str = "\
Examples:
  sudo dyntrace run efile_drv -- target/release/server --port 8080
  sudo dyntrace run efile_drv -p server --for 10s
  sudo dyntrace run efile_latency --tag 'req-*' -p 4711
  sudo dyntrace run task_latency --slow 1ms -p 4711
  dyntrace run --tracer recorder efile_drv -- target/release/server
  sudo dyntrace run --tracer dtrace --tracer-option=-q -o trace.txt ./mine.d -- ./server

Exit status: that of the command, or 128 plus the number of the signal that ended it; 0 with -p.
If the command succeeds, or was not run:
    2  wrong use, or no such script
    3  the tracer lost events, or lines of the trace are missing
   65  the program has no probes, or none that the script names
   69  no tracer can be used: not installed, too old, or no permission
   70  the tracer or the recorder failed, and the trace is incomplete
  126  the command cannot be run
  127  the command was not found";

/// Run a script on a command or a process
///
/// Uses the first installed tracer that can run the script: on Linux bpftrace, DTrace 2, SystemTap; elsewhere DTrace. The command
/// runs as the same user as dyntrace and is traced from its first instruction. On Linux without a usable tracer, shipped scripts use
/// the built-in recorder, which writes to TMPDIR, and print the same lines. The trace goes to standard output, with control
/// characters escaped.
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// A shipped script, or the path of a .d (DTrace), .stp (SystemTap) or .bt (bpftrace) file
    pub(super) script: String,
    /// Trace a running process; an interrupt ends the trace, not the process
    #[arg(short, long, conflicts_with = "command")]
    pub(super) pid: Option<u32>,
    /// End the trace this time after the tracer has attached: 10s
    #[arg(long = "for", value_name = "TIME", value_parser = length, conflicts_with = "command")]
    pub(super) length: Option<Duration>,
    /// Use this tracer
    #[arg(long, value_enum)]
    pub(super) tracer: Option<By>,
    /// Only events and file operations whose user tag matches: 'req-*'
    ///
    /// For blocking_pool, efile_by_tag, efile_drv, efile_errors, efile_latency, spawn-exit, task_latency, task_waits and user-probe. The
    /// start and end of a job have no user tag and go with their operation, other events of a process with its spawn; events without one
    /// are left out.
    /// Tracers take texts and * in the glob; with ? the command records itself.
    #[arg(long, value_name = "GLOB")]
    pub(super) tag: Option<String>,
    /// A poll that takes this long or longer is slow, for task_latency; 10 ms without: 500us
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(super) slow: Option<i64>,
    /// Pass an option to that tracer, before those of dyntrace; one word each: --tracer-option=-q
    #[arg(long, value_name = "OPTION", requires = "tracer", allow_hyphen_values = true)]
    pub(super) tracer_option: Vec<OsString>,
    /// Write the trace to a file; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// The command to run and trace, with its arguments
    #[arg(last = true, required_unless_present = "pid", value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}
