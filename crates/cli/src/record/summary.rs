//! The summary of a trace, in the last line of commands.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::ExitCode;

use dyntrace_analysis::{losses, recording};
use dyntrace_reader::{Damage, Losses, Value as Field};
use dyntrace_terminal::escape;
use dyntrace_terminal::exit::Failure;
use indicatif::HumanBytes;
use serde::Serialize;
use serde_json::{Value, json};

use super::progress;

/// Counted up when a field changes or goes.
const VERSION: u32 = 1;

#[derive(Serialize)]
pub struct Summary {
    version: u32,
    /// The folder.
    trace: String,
    processes: usize,
    threads: usize,
    events: u64,
    /// How many events are known to be lost.
    lost: u64,
    damaged: usize,
    damage: Vec<Value>,
    bytes: u64,
    /// The folders of snapshots that the session took itself.
    snapshots: Vec<String>,
    /// How many snapshots were not taken, since there were too many.
    suppressed: u64,
    #[serde(skip)]
    losses: Losses,
}

impl Summary {
    /// Reads the trace in `directory`, of a program that this command has seen to the end: without an event, it is whole all the same.
    pub fn of_seen(directory: &Path) -> Result<Summary, Failure> {
        let mut summary = Summary::of(directory)?;
        summary.losses.empty.iter_mut().for_each(|trace| trace.is_ended = true);
        Ok(summary)
    }

    /// Reads the trace in `directory`.
    pub fn of(directory: &Path) -> Result<Summary, Failure> {
        // The trace was just made: the status for one that is missing would be wrong.
        let trace = recording::open(&[directory.to_owned()]).map_err(|failure| Failure::from(failure.error))?;
        let mut events = 0;
        let mut threads = HashSet::new();
        let mut last = None;
        let (mut snapshots, mut suppressed) = (Vec::new(), 0);
        for event in recording::events(&trace) {
            if event.class.provider() == "recorder" {
                match (event.class.probe(), event.field("folder"), event.field("count")) {
                    ("snapshot", Some(Field::Text(folder)), _) => {
                        snapshots.push(escape::path(shown(Path::new(OsStr::from_bytes(&folder)))))
                    }
                    ("suppressed", _, Some(Field::Unsigned(count))) => suppressed += count,
                    _ => {}
                }
                continue;
            }
            events += 1;
            let thread = (event.process.pid, event.tid);
            if last != Some(thread) {
                threads.insert(thread);
                last = Some(thread);
            }
        }
        let losses = trace.losses();
        Ok(Summary {
            version: VERSION,
            trace: escape::path(shown(directory)),
            processes: trace.processes().len(),
            threads: threads.len(),
            events,
            lost: losses.events(),
            damaged: losses.damaged.len(),
            damage: losses.damaged.iter().map(damage).collect(),
            bytes: progress::bytes(directory),
            snapshots,
            suppressed,
            losses,
        })
    }

    /// Reports the losses on standard error, and returns the exit status for them.
    pub fn say_losses(&self) -> ExitCode {
        losses::say(&self.losses);
        losses::status(&self.losses)
    }

    /// The summary as a line that begins with `done`.
    pub fn line(&self, done: &str) -> String {
        let Summary { trace, processes, threads, events, lost, bytes, .. } = self;
        let processes = if *processes == 1 { String::new() } else { format!("{processes} processes, ") };
        let threads = if *threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
        format!(
            "{done} {processes}{threads}, {} events, {} lost ... done: {trace} ({})",
            amount(*events),
            amount(*lost),
            HumanBytes(*bytes)
        )
    }

    /// A line about the snapshots that the session took itself, if there was a cause for one.
    pub fn snapshots_line(&self) -> Option<String> {
        let suppressed = match self.suppressed {
            0 => String::new(),
            1 => ", none for 1 more cause".to_owned(),
            count => format!(", none for {} more causes", amount(count)),
        };
        match (self.snapshots.as_slice(), self.suppressed) {
            ([], 0) => None,
            ([], _) => Some(format!("no snapshots{suppressed}")),
            ([one], _) => Some(format!("1 snapshot{suppressed}: {one}")),
            ([.., last], _) => Some(format!("{} snapshots{suppressed}, the last: {last}", self.snapshots.len())),
        }
    }

    pub fn json(&self) -> String {
        escape::json(serde_json::to_string(self).expect("numbers and texts are JSON"))
    }
}

fn damage(place: &Damage) -> Value {
    let (file, reason) = (escape::path(&place.file), escape::name(&place.reason));
    json!({"file": file, "offset": place.offset, "bytes": place.bytes, "reason": reason})
}

/// A path relative to the current directory, if it is below that.
fn shown(path: &Path) -> &Path {
    std::env::current_dir().ok().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path)
}

/// A number for people: `999`, `1.2 k`, `38 M`.
fn amount(number: u64) -> String {
    const UNITS: [(f64, &str); 3] = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    let value = number as f64;
    // A value that would round up to the next unit uses that unit.
    match UNITS.into_iter().find(|(size, _)| value >= size * 0.9995) {
        None => number.to_string(),
        Some((size, unit)) if value / size < 9.95 => format!("{:.1} {unit}", value / size),
        Some((size, unit)) => format!("{:.0} {unit}", value / size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Fields;

    #[test]
    fn the_page_has_the_fields() {
        let (folder, whole) =
            (tempfile::tempdir().unwrap(), concat!(env!("CARGO_MANIFEST_DIR"), "/../reader/tests/golden/shop-12"));
        for file in std::fs::read_dir(whole).unwrap().map(|file| file.unwrap()) {
            let mut bytes = std::fs::read(file.path()).unwrap();
            if file.file_name().as_bytes().starts_with(b"ring-") {
                // Within its header.
                bytes.truncate(20);
            }
            std::fs::write(folder.path().join(file.file_name()), bytes).unwrap();
        }
        let mut summary = Summary::of(folder.path()).unwrap_or_else(|failure| panic!("{:?}", failure.error));
        summary.snapshots.push("snapshot-1".to_owned());
        let mut fields = Fields::new(&[]);
        fields.add(&serde_json::from_str(&summary.json()).unwrap());
        fields.are_those_below("dyntrace record --json, snapshot --json and recover --json");
    }

    #[test]
    fn two_or_three_digits() {
        let shown = [0, 999, 1000, 1240, 9_949, 9_950, 999_400, 999_500, 38_000_000, 1_200_000_000].map(amount);
        assert_eq!(shown, ["0", "999", "1.0 k", "1.2 k", "9.9 k", "10 k", "999 k", "1.0 M", "38 M", "1.2 G"]);
    }
}
