//! One of the two traces, read in one pass.

use std::path::Path;

use dyntrace_reader::{FileOperations, Losses};
use dyntrace_terminal::escape;
use dyntrace_terminal::exit::Failure;

use super::groups::Groups;
use super::naming::Naming;
use crate::recording;

pub struct Side {
    /// The path of the trace, escaped.
    pub name: String,
    pub groups: Groups,
    pub events: u64,
    /// Nanoseconds from the first event to the last.
    pub length: u64,
    /// How many operations had no answer when the trace ended.
    pub unanswered: u64,
    /// How many events belong to operations whose begin is missing.
    pub unmatched: u64,
    /// How many operations lack their end.
    pub given_up: u64,
    pub losses: Losses,
    /// The mode of files made from the trace.
    pub mode: u32,
}

impl Side {
    pub fn read(path: &Path, naming: Naming) -> Result<Side, Failure> {
        let trace = recording::open(&[path.to_owned()])?;
        let mut groups = Groups::new(naming);
        let mut operations = FileOperations::default();
        let (mut count, mut times) = (0, None);
        for event in recording::events(&trace) {
            count += 1;
            let (first, last) = times.unwrap_or((event.time, event.time));
            times = Some((first.min(event.time), last.max(event.time)));
            match operations.push(&event) {
                Some(operation) => groups.operation(&operation),
                None => groups.call(&event),
            }
        }
        Ok(Side {
            name: escape::path(path),
            groups,
            events: count,
            length: times.map_or(0, |(first, last)| last.abs_diff(first)),
            unanswered: operations.in_flight().count() as u64,
            unmatched: operations.unmatched(),
            given_up: operations.given_up(),
            losses: trace.losses(),
            mode: recording::mode(&trace),
        })
    }

    /// How many there are in a second; `None` if the trace has no length.
    pub fn rate(&self, count: u64) -> Option<f64> {
        (self.length > 0).then(|| count as f64 * 1e9 / self.length as f64)
    }

    /// Statements about figures that are too low, because events are missing.
    pub fn gaps(&self) -> Vec<String> {
        let lost = self.losses.events();
        let damaged = self.losses.damaged.len() as u64;
        [
            (lost, "events were lost", "event was lost"),
            (damaged, "places are damaged", "place is damaged"),
            (
                self.unmatched,
                "events belong to operations whose begin is missing",
                "event belongs to an operation whose begin is missing",
            ),
            (self.given_up, "operations lack their end", "operation lacks its end"),
            (self.unanswered, "operations had no answer at its end", "operation had no answer at its end"),
        ]
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, many, one)| format!("{count} {}", if count == 1 { one } else { many }))
        .collect()
    }
}
