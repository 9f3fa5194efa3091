//! `dyntrace clocks`: aligns the clocks of a data set's hosts by the messages between them, and by estimates of NTP.

mod join;
mod json;
mod ntp;
mod read;
mod seconds;
mod solve;
mod state;
pub mod table;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use dyntrace_analysis::losses;
use dyntrace_terminal::exit::{self, Failure, Outcome};
use dyntrace_terminal::{escape, say, stdout};

use read::ClockInputs;

const HELP: &str = "\
Examples:
  dyntrace clocks fleet
  dyntrace clocks fleet --reference db-1
  dyntrace clocks fleet --drift 500 --json
  dyntrace clocks fleet --ntp ntp.csv

Messages are joined by label and counts of their sequential trace tokens: the step send_remote on one
host and the step receive on another. Label and counts that occur twice tell no message. A message is
received after it was sent, which bounds the difference of two clocks from one side, and its answer
from the other.

The table `clocks` of the data set has for each host by how much its clock is ahead of the reference's,
in pieces of time, with an error bar. Each run replaces it. A machine is known by its name: machines of
one name count as one clock.

A file for --ntp has a line for each time that chrony was asked: HOST,TIME,$(chronyc -c tracking), where
TIME is $(date +%s.%N) on that host. It bounds the host's clock against UTC, also without messages.

Exit status:
   0  the clocks of all hosts that messages connect with the reference were aligned
   1  the table cannot be written
   2  wrong use, or no message is from or to the reference
   4  messages contradict each other, and hosts were left out
  66  there is no such data set, it cannot be read, or it has no messages between hosts and no estimates;
      or a file of --ntp cannot be read, or has no estimate";

/// Align the clocks of the hosts of a data set by the messages between them
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// The folder of the data set, as dyntrace convert --partition makes it
    folder: PathBuf,
    /// The host whose clock is right; without it, that with the most messages
    #[arg(long, value_name = "HOST")]
    reference: Option<String>,
    /// The most that a clock drifts against the reference's, in parts in a million
    #[arg(long, value_name = "PPM", default_value_t = 200, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    drift: u32,
    /// A file of what chrony told on the hosts, see below; may be repeated
    #[arg(long, value_name = "FILE")]
    ntp: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn clocks(Arguments { folder, reference, drift, ntp, json }: &Arguments) -> Outcome {
    let no_trace = |error| Failure::new(exit::NO_TRACE, error);
    let mut found = read::messages(folder).map_err(no_trace)?;
    if !ntp.is_empty() {
        ntp::read(ntp).and_then(|estimates| found.bound(estimates)).map_err(no_trace)?;
    }
    if found.links().next().is_none() {
        return Err(Failure::new(exit::NO_TRACE, none(folder, &found)));
    }
    let reference = match reference {
        Some(name) => found.host(name).ok_or_else(|| Failure::new(exit::USAGE, unknown(name, folder, &found)))?,
        None => found.busiest(),
    };
    let solved = solve::solve(reference, found.links().copied().collect(), *drift);
    table::write(folder, &found, &solved).with_context(|| format!("cannot write {}", escape::path(folder)))?;
    if *json {
        stdout::write_json(&json::object(&found, &solved, *drift), false)?;
    } else {
        stdout::write(&text::table(&found, &solved))?;
    }
    text::summary(&found).iter().for_each(|line| say!("{line}"));
    text::contradictions(&found, &solved).iter().for_each(|line| losses::warn(line));
    Ok(if solved.left_out.is_empty() { ExitCode::SUCCESS } else { exit::DAMAGED.into() })
}

fn none(folder: &std::path::Path, found: &ClockInputs) -> anyhow::Error {
    anyhow!(
        "cannot align the clocks of {}: no message is known both where it was sent and on another host where it was received ({}); \
         messages are known by sequential trace tokens: set one with a label of its own for each request, by dyntrace::seq_trace; \
         or give estimates of NTP for these hosts by --ntp",
        escape::path(folder),
        text::counts(found)
    )
}

/// The most hosts that an error names.
const NAMED: usize = 10;

fn unknown(name: &str, folder: &std::path::Path, found: &ClockInputs) -> anyhow::Error {
    let known =
        found.hosts.iter().enumerate().filter(|(at, _)| found.is_linked(*at)).map(|(_, name)| escape::name(name));
    let mut known: Vec<String> = known.collect();
    let more = known.len().saturating_sub(NAMED);
    known.truncate(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    anyhow!(
        "cannot align the clocks of {} to {}: no message between hosts is from it or to it; hosts with messages are {}{more}",
        escape::path(folder),
        escape::name(name),
        known.join(", ")
    )
}
