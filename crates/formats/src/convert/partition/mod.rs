//! Traces of a fleet as a data set: Parquet files in folders by host, date and hour, to which each run adds what is new.
//!
//! Each process of a trace is a source of the data set; `dyntrace-fleet` says how its rows come there once, also when a converter is killed.

mod columns;
mod events;
mod losses;
mod messages;
mod rows;
mod source;
mod tables;
mod waits;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use dyntrace_analysis::{losses as told, recording};
use dyntrace_fleet::{Error, Ledger};
use dyntrace_reader::{Damage, Process, Trace};
use dyntrace_terminal::exit::{self, Failure, Outcome};
use dyntrace_terminal::signals::Interrupts;
use dyntrace_terminal::{escape, private, say};

use crate::clocks::table as clocks;
use source::{Converted, Look, SourceState};
use tables::Schemas;

/// The pause between two rounds without another one.
const EVERY: Duration = Duration::from_secs(60);

#[derive(clap::Args)]
pub struct Partition {
    /// For parquet: write a data set of many machines, a file for each table, process, host, date and hour; later runs add what is new
    #[arg(long, value_name = "KEYS", value_parser = ["host,date,hour"])]
    partition: Option<String>,
    /// The programs are gone, also those whose recordings have no end: what is in flight gets its rows now
    #[arg(long = "final", requires = "partition", conflicts_with = "follow")]
    is_final: bool,
    /// Add what is new until the recordings end, or an interrupt ends the command after a last round
    #[arg(long, requires = "partition")]
    follow: bool,
    /// The time between two rounds of --follow [default: 60s]
    #[arg(long, requires = "follow", value_name = "TIME", value_parser = dyntrace_analysis::view::time::length)]
    every: Option<Duration>,
}

impl Partition {
    pub fn is_given(&self) -> bool {
        self.partition.is_some()
    }
}

/// Writes the traces to the data set in the folder `output`.
pub fn convert(traces: &[PathBuf], output: &Path, arguments: &Partition) -> Outcome {
    let schemas = tables::schemas();
    // The second one ends the command at once: a round of large recordings takes long.
    let interrupts = arguments.follow.then(|| Interrupts::receive(2)).transpose()?;
    let (mut is_first, mut is_interrupted, mut written) = (true, false, 0);
    loop {
        let mut round = Round { is_final: arguments.is_final, output, schemas: &schemas, seen: RoundCounts::default() };
        for trace in traces {
            round.add(trace)?;
        }
        let is_over = !round.seen.goes_on || is_interrupted || (is_first && round.seen.opened == 0);
        let Some(interrupts) = interrupts.as_ref().filter(|_| !is_over) else {
            return round.seen.with_earlier(written).finish();
        };
        written += round.seen.new;
        is_first = false;
        // After an interrupt, a last round takes what was recorded before it.
        is_interrupted = interrupts.wait(arguments.every.unwrap_or(EVERY)).is_some();
    }
}

/// One look at all traces.
struct Round<'r> {
    is_final: bool,
    output: &'r Path,
    schemas: &'r Schemas,
    seen: RoundCounts,
}

/// The counts and the problems of a round.
#[derive(Default)]
struct RoundCounts {
    /// Traces that could be opened.
    opened: usize,
    /// The error of the first one that could not.
    failed: Option<anyhow::Error>,
    /// Whether something may follow.
    goes_on: bool,
    is_lossy: bool,
    /// Whether a trace without an event was not ended.
    is_unknown: bool,
    is_damaged: bool,
    new: usize,
    done: usize,
    lines: Vec<String>,
}

impl Round<'_> {
    /// Adds a trace. One that cannot be read is noted, and the others go on.
    fn add(&mut self, path: &Path) -> Result<(), Failure> {
        loop {
            let (mut known, mut trace) = match self.open(path) {
                Ok(opened) => opened,
                Err(error) => {
                    self.seen.fail(error);
                    return Ok(());
                }
            };
            // Copies of a process are one source.
            let mut sources: Vec<([u8; 16], usize)> =
                trace.processes().iter().zip(0..).map(|(process, index)| (process.uuid(), index)).collect();
            sources.sort_unstable();
            sources.dedup_by_key(|(uuid, _)| *uuid);
            let mode = recording::mode(&trace);
            private::create_folder(self.output, mode).map_err(|error| self.cannot_write(error.into()))?;
            // Once a round is enough.
            if self.seen.opened == 0 {
                clocks::begin(self.output, mode).map_err(|error| self.cannot_write(error.into()))?;
            }
            let mut converted = Vec::new();
            for &(uuid, index) in &sources {
                let ledger = Ledger::of(self.output, uuid, mode);
                let known = known.remove(&uuid).unwrap_or_default();
                match source::convert(&mut trace, index, &ledger, known, self.schemas, self.is_final) {
                    Ok(Some(source)) => converted.push((index, Ok(source))),
                    // Another converter was faster: its plan may have more than this look at the trace.
                    Ok(None) => break,
                    Err(error @ (Error::Plan { .. } | Error::Hours { .. })) => converted.push((index, Err(error))),
                    Err(error) => return Err(self.cannot_write(error.into())),
                }
            }
            if converted.len() == sources.len() {
                self.seen.opened += 1;
                let losses = trace.losses();
                let is_of_none =
                    |damage: &&Damage| !trace.processes().iter().any(|process| damage.file.starts_with(&process.path));
                losses.damaged.iter().filter(is_of_none).for_each(|damage| self.seen.skip(damage));
                if converted.iter().all(|(_, source)| source.as_ref().is_ok_and(|source| source.is_last)) {
                    self.seen.lines.extend(told::empty(&losses));
                    self.seen.is_unknown |= losses.are_unknown();
                }
                for (index, source) in converted {
                    let process = &trace.processes()[index];
                    match source {
                        Ok(source) => self.seen.take(process, &source),
                        Err(error) => self.seen.fail(anyhow::Error::new(error).context(escape::path(&process.path))),
                    }
                }
                return Ok(());
            }
        }
    }

    /// Opens the trace after reading the plans of its sources and looking at their events, so that it has all that the plans name. Returns
    /// what is known of each source, by its uuid.
    fn open(&self, path: &Path) -> anyhow::Result<(HashMap<[u8; 16], SourceState>, Trace)> {
        let mut known = HashMap::new();
        let trace = Trace::open(path)?;
        for process in trace.processes() {
            let ranges = Ledger::of(self.output, process.uuid(), 0).ranges()?;
            let follows = !ranges.last().is_some_and(|last| last.plan.is_last);
            let look = follows.then(|| Look::at(&trace, process));
            known.insert(process.uuid(), SourceState { ranges, look });
        }
        Ok((known, Trace::open(path)?))
    }

    fn cannot_write(&self, error: anyhow::Error) -> Failure {
        error.context(format!("cannot write {}", escape::path(self.output))).into()
    }
}

impl RoundCounts {
    fn fail(&mut self, error: anyhow::Error) {
        self.lines.push(format!("skipped: {}", escape::name(format!("{error:#}"))));
        self.failed.get_or_insert(error);
        self.is_damaged = true;
        self.goes_on = true;
    }

    fn skip(&mut self, damage: &Damage) {
        self.lines.push(format!("damaged: {}", told::place(damage)));
        self.is_damaged = true;
    }

    fn take(&mut self, process: &Process, source: &Converted) {
        self.new += source.new;
        self.done += source.done;
        self.goes_on |= !source.is_last;
        self.is_damaged |= source.losses.iter().any(losses::is_damage);
        self.is_lossy |= source.losses.iter().any(|loss| loss.count > Some(0));
        self.lines.extend(source.losses.iter().map(|loss| losses::line(loss, process)));
        if source.has_rings && !source.is_last {
            self.lines.push(format!(
                "{}: its circular files change: their events get rows when the recording has ended; if the program is gone, --final writes them",
                escape::path(&process.path)
            ));
        }
        if let Some([operations, tasks, waits]) = source.in_flight {
            let path = escape::path(&process.path);
            self.lines.push(format!(
                "{path}: the recording has not ended; {operations} operations, {tasks} tasks and {waits} waits in flight have no rows yet; \
                 if the program is gone, --final writes them"
            ));
        }
    }

    /// Counts the ranges that earlier rounds of this run have written as new. They were done before the last round only.
    fn with_earlier(mut self, written: usize) -> RoundCounts {
        self.new += written;
        self.done = self.done.saturating_sub(written);
        self
    }

    /// Tells what was seen. The exit status is for the worst of it.
    fn finish(self) -> Outcome {
        if let Some(error) = self.failed.filter(|_| self.opened == 0) {
            return Err(Failure::new(exit::NO_TRACE, error));
        }
        self.lines.iter().for_each(|line| told::warn(line));
        say!("ranges: {} new, {} done before", self.new, self.done);
        Ok(if self.is_damaged {
            exit::DAMAGED.into()
        } else if self.is_lossy {
            exit::LOSSY.into()
        } else if self.is_unknown {
            exit::UNKNOWN.into()
        } else {
            ExitCode::SUCCESS
        })
    }
}

/// A name of any bytes as text: bytes that are not graphic ASCII, and percent signs, as `%XX`.
fn name(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        match byte {
            b'!'..=b'~' if *byte != b'%' => out.push(char::from(*byte)),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
        out
    })
}
