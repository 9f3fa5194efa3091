//! The script `efile_latency`: the phases of each command, by duration.

use std::collections::{BTreeMap, HashMap};

use dyntrace_reader::{Event, OperationStep};

use super::operation::{Id, number, step};
use super::times::{TITLES, Times};
use super::way::{Printer, Way};
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

/// An operation in flight.
enum Reached {
    Entered {
        at: i64,
    },
    /// Once more, if the calling thread's attempt missed.
    Started {
        entered: i64,
        at: i64,
    },
    Ended {
        at: i64,
    },
}

#[derive(Default)]
struct Latency {
    in_flight: HashMap<Id, Reached>,
    /// By command and phase.
    times: BTreeMap<(i64, usize), Times>,
}

impl Printer for Latency {
    fn event(&mut self, event: &Event<'_>, _out: &mut Vec<u8>) {
        let Some((step, id)) = step(event) else { return };
        let (at, command) = (event.time, number(event, "command"));
        let mut pass = |phase, took| self.times.entry((command, phase)).or_default().add(took);
        let reached = match (self.in_flight.remove(&id), step) {
            (_, OperationStep::Entry) => Reached::Entered { at },
            (Some(Reached::Entered { at: entered } | Reached::Started { entered, .. }), OperationStep::IntEntry) => {
                Reached::Started { entered, at }
            }
            (Some(Reached::Started { entered, at: started }), OperationStep::IntReturn) => {
                pass(0, started - entered);
                pass(1, at - started);
                Reached::Ended { at }
            }
            (Some(Reached::Ended { at: ended }), OperationStep::Return) => return pass(2, at - ended),
            // The operation was cancelled, or its events were lost.
            (None, _) | (_, OperationStep::Return) => return,
            (Some(other), _) => other,
        };
        self.in_flight.insert(id, reached);
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
