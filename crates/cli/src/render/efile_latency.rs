//! The script `efile_latency`: where the time of each command goes.

use std::collections::{BTreeMap, HashMap};

use dyntrace_reader::Event;

use super::operation::{Id, Step, number, step};
use super::times::{TITLES, Times};
use super::{Answer, Commands};

/// The probes it needs.
pub const PROBES: &[&str] = &[
    "dyntrace:efile_drv-entry",
    "dyntrace:efile_drv-int_entry",
    "dyntrace:efile_drv-int_return",
    "dyntrace:efile_drv-return",
];

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    InQueue,
    Service,
    ToAnswer,
}

struct Latency {
    commands: Commands,
    /// The last step of operations in flight, and when that was.
    in_flight: HashMap<Id, (Step, i64)>,
    times: BTreeMap<(i64, Phase), Times>,
}

/// Before the first event.
pub fn begin() -> Box<dyn Answer> {
    Box::new(Latency { commands: Commands::new(), in_flight: HashMap::new(), times: BTreeMap::new() })
}

impl Answer for Latency {
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
        // Other pairs are of operations that were cancelled, or whose events were lost.
        let (phase, since) = match (before, step) {
            (Some((Step::Entry, since)), Step::IntEntry) => (Phase::InQueue, since),
            (Some((Step::IntEntry, since)), Step::IntReturn) => (Phase::Service, since),
            (Some((Step::IntReturn, since)), Step::Return) => (Phase::ToAnswer, since),
            _ => return,
        };
        if phase != Phase::ToAnswer {
            self.in_flight.insert(id, (step, event.time));
        }
        self.times.entry((number(event, "command"), phase)).or_default().add(event.time - since);
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("command       phase       count   mean_us {TITLES}\n").as_bytes());
        for (&(command, phase), times) in &self.times {
            let phase = match phase {
                Phase::InQueue => "in queue",
                Phase::Service => "service",
                Phase::ToAnswer => "to answer",
            };
            let (command, columns) = (self.commands.name(command), times.columns());
            let row = format!("{command:<13} {phase:<9} {:>7} {:>9}{columns}\n", times.count, times.mean_us());
            out.extend_from_slice(row.as_bytes());
        }
    }
}
