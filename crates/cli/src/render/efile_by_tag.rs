//! The script `efile_by_tag`: who asks the file driver for what.

use std::collections::{BTreeMap, HashMap};

use dyntrace::efile::{Command, Position};
use dyntrace_reader::Event;

use crate::escape;

use super::operation::{Id, Step, number, step, text};
use super::{Answer, Commands};

/// The probes it needs.
pub const PROBES: &[&str] = &["dyntrace:efile_drv-entry", "dyntrace:efile_drv-return"];

const TITLES: &str = "command       operations   errors          bytes      time_us  user tag\n";

/// What one tag asked of one command.
#[derive(Default)]
struct Sums {
    operations: u64,
    errors: u64,
    bytes: i64,
    time_us: i64,
}

struct ByTag {
    commands: Commands,
    /// When operations in flight were asked for, and how many bytes they are to move.
    in_flight: HashMap<Id, (i64, i64)>,
    sums: BTreeMap<(i64, Vec<u8>), Sums>,
}

/// Before the first event.
pub fn begin() -> Box<dyn Answer> {
    Box::new(ByTag { commands: Commands::new(), in_flight: HashMap::new(), sums: BTreeMap::new() })
}

impl Answer for ByTag {
    fn event(&mut self, event: &Event<'_>, _out: &mut Vec<u8>) {
        match step(event) {
            Some((Step::Entry, id)) => {
                self.in_flight.insert(id, (event.time, bytes(event)));
            }
            Some((Step::Return, id)) => {
                let Some((since, bytes)) = self.in_flight.remove(&id) else { return };
                let key = (number(event, "command"), text(event, "user_tag").to_vec());
                let sums = self.sums.entry(key).or_default();
                sums.operations += 1;
                match number(event, "success") {
                    0 => sums.errors += 1,
                    _ => sums.bytes = sums.bytes.saturating_add(bytes),
                }
                sums.time_us += (event.time - since) / 1000;
            }
            _ => {}
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(TITLES.as_bytes());
        for ((command, tag), Sums { operations, errors, bytes, time_us }) in &self.sums {
            let (op, tag) = (self.commands.name(*command), escape::name(tag));
            let row = format!("{op:<13} {operations:>10} {errors:>8} {bytes:>14} {time_us:>12}  {tag}\n");
            out.extend_from_slice(row.as_bytes());
        }
    }
}

/// How many bytes an operation is to move; 0 if its command does not say.
fn bytes(entry: &Event<'_>) -> i64 {
    let command = number(entry, "command");
    let command = Command::ALL.iter().find(|known| i64::from(known.number()) == command);
    let mut arguments = command.into_iter().flat_map(|command| command.arguments());
    let size = arguments.find(|argument| argument.meaning == "size").map(|argument| argument.position);
    match size {
        Some(Position::S1 | Position::S2) | None => 0,
        Some(position) => number(entry, &position.to_string()),
    }
}
