//! Counts operations where they are called.

use std::collections::BTreeMap;
use std::io;

use dyntrace::efile::Command;
use serde_json::{Value, json};

#[derive(Default)]
pub struct Tally {
    commands: BTreeMap<Command, Count>,
}

#[derive(Default)]
struct Count {
    ok: u64,
    failed: u64,
}

impl Tally {
    /// Counts one operation by its result, and returns the result.
    pub fn note<T>(&mut self, command: Command, answer: io::Result<T>) -> io::Result<T> {
        let count = self.commands.entry(command).or_default();
        match answer {
            Ok(_) => count.ok += 1,
            Err(_) => count.failed += 1,
        }
        answer
    }

    /// Like [`note`](Tally::note), but drops the result.
    pub fn count<T>(&mut self, command: Command, answer: io::Result<T>) {
        let _ = self.note(command, answer);
    }

    pub fn add(&mut self, other: Tally) {
        for (command, Count { ok, failed }) in other.commands {
            let count = self.commands.entry(command).or_default();
            count.ok += ok;
            count.failed += failed;
        }
    }

    pub fn to_json(&self) -> Value {
        let total: u64 = self.commands.values().map(|count| count.ok + count.failed).sum();
        let commands: BTreeMap<&str, Value> = self
            .commands
            .iter()
            .map(|(command, count)| (command.name(), json!({ "ok": count.ok, "failed": count.failed })))
            .collect();
        json!({ "commands": commands, "total": total })
    }
}
