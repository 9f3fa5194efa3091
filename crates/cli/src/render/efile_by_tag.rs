//! The script `efile_by_tag`: file operations by user tag and command.

use std::collections::{BTreeMap, HashMap};

use dyntrace_reader::Event;

use super::operation::{Id, Step, number, step, text};
use super::{Printer, Way};
use crate::escape;
use crate::operation::{op, size};

pub const WAY: Way = Way::Summary {
    probes: &["dyntrace:efile_drv-entry", "dyntrace:efile_drv-return"],
    begin: || Box::<ByTag>::default(),
};

const TITLES: &str = "command       operations   errors          bytes      time_us  user tag\n";

#[derive(Default)]
struct Sums {
    operations: u64,
    errors: u64,
    bytes: i64,
    time_us: i64,
}

#[derive(Default)]
struct ByTag {
    /// When each operation in flight was entered, and its bytes.
    in_flight: HashMap<Id, (i64, i64)>,
    /// By command and user tag.
    sums: BTreeMap<(i64, Vec<u8>), Sums>,
}

impl Printer for ByTag {
    fn event(&mut self, event: &Event<'_>, _out: &mut Vec<u8>) {
        match step(event) {
            Some((Step::Entry, id)) => {
                let bytes = |at: usize| number(event, ["i1", "i2", "i3", "i4"][at]);
                let bytes = size(number(event, "command")).map_or(0, bytes);
                self.in_flight.insert(id, (event.time, bytes));
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
            let (op, tag) = (op(*command), escape::name(tag));
            let row = format!("{op:<13} {operations:>10} {errors:>8} {bytes:>14} {time_us:>12}  {tag}\n");
            out.extend_from_slice(row.as_bytes());
        }
    }
}
