//! The script `efile_latency`: the phases of each command, by duration.

use std::collections::{BTreeMap, HashMap};

use dyntrace_reader::Event;

use super::operation::{Id, Step, number, step};
use super::times::{TITLES, Times};
use super::{Printer, Way};
use crate::operation::op;

pub const WAY: Way = Way::Summary {
    probes: &[
        "dyntrace:efile_drv-entry",
        "dyntrace:efile_drv-int_entry",
        "dyntrace:efile_drv-int_return",
        "dyntrace:efile_drv-return",
    ],
    begin: |_| Box::<Latency>::default(),
};

/// The names of the phases, in their order.
const PHASES: [&str; 3] = ["in queue", "service", "to answer"];

#[derive(Default)]
struct Latency {
    /// The last step of operations in flight, and its time.
    in_flight: HashMap<Id, (Step, i64)>,
    /// By command and phase.
    times: BTreeMap<(i64, usize), Times>,
}

impl Printer for Latency {
    fn event(&mut self, event: &Event<'_>, _out: &mut Vec<u8>) {
        let Some((step, id)) = step(event) else { return };
        let before = match step {
            Step::Entry => {
                self.in_flight.insert(id, (step, event.time));
                return;
            }
            Step::Return => self.in_flight.remove(&id),
            Step::IntEntry | Step::IntReturn => self.in_flight.get(&id).copied(),
        };
        // Other pairs: the operation was cancelled, or its events were lost.
        let (phase, since) = match (before, step) {
            (Some((Step::Entry, since)), Step::IntEntry) => (0, since),
            (Some((Step::IntEntry, since)), Step::IntReturn) => (1, since),
            (Some((Step::IntReturn, since)), Step::Return) => (2, since),
            _ => return,
        };
        if step != Step::Return {
            self.in_flight.insert(id, (step, event.time));
        }
        self.times.entry((number(event, "command"), phase)).or_default().add(event.time - since);
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("command       phase       count   mean_us {TITLES}\n").as_bytes());
        for (&(command, phase), times) in &self.times {
            let (op, phase, columns) = (op(command), PHASES[phase], times.columns());
            let row = format!("{op:<13} {phase:<9} {:>7} {:>9}{columns}\n", times.count, times.mean_us());
            out.extend_from_slice(row.as_bytes());
        }
    }
}
