//! The script `efile_by_tag`: file operations by user tag and command.

use std::collections::{BTreeMap, HashMap};

use dyntrace_reader::{Event, OperationStep};
use dyntrace_terminal::escape;

use super::operation::{Id, number, step, text};
use super::way::{Printer, Way};
use crate::operation::op;

pub const WAY: Way = Way::Summary {
    probes: &["dyntrace:efile_drv-entry", "dyntrace:efile_drv-return"],
    begin: |_| Box::<ByTag>::default(),
};

/// The titles of the columns; that of the bytes is `bytes: ?` if a trace does not say how many were moved.
fn titles(bytes: &str) -> String {
    format!("command       operations   errors {bytes:>14}      time_us  user tag\n")
}

#[derive(Default)]
struct Sums {
    operations: u64,
    errors: u64,
    bytes: i64,
    time_us: i64,
}

#[derive(Default)]
struct ByTag {
    /// When each operation in flight was entered.
    in_flight: HashMap<Id, i64>,
    /// By command and user tag.
    sums: BTreeMap<(i64, Vec<u8>), Sums>,
    /// Whether an operation does not say how many bytes it moved.
    is_unknown: bool,
}

impl Printer for ByTag {
    fn event(&mut self, event: &Event<'_>, _out: &mut Vec<u8>) {
        match step(event) {
            Some((OperationStep::Entry, id)) => {
                self.in_flight.insert(id, event.time);
            }
            Some((OperationStep::Return, id)) => {
                let Some(since) = self.in_flight.remove(&id) else { return };
                let key = (number(event, "command"), text(event, "user_tag").to_vec());
                let sums = self.sums.entry(key).or_default();
                sums.operations += 1;
                sums.errors += u64::from(number(event, "success") == 0);
                sums.bytes = sums.bytes.saturating_add(number(event, "bytes"));
                self.is_unknown |= event.class.position("bytes").is_none();
                sums.time_us += (event.time - since) / 1000;
            }
            _ => {}
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(titles(if self.is_unknown { "bytes: ?" } else { "bytes" }).as_bytes());
        for ((command, tag), Sums { operations, errors, bytes, time_us }) in &self.sums {
            let (op, tag) = (op(*command), escape::name(tag));
            let row = format!("{op:<13} {operations:>10} {errors:>8} {bytes:>14} {time_us:>12}  {tag}\n");
            out.extend_from_slice(row.as_bytes());
        }
    }
}
