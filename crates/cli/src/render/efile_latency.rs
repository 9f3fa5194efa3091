//! The script `efile_latency`: where the time of each command goes.

use std::collections::{BTreeMap, HashMap};

use dyntrace_trace::Event;

use super::operation::{Id, Step, number, step};
use super::{Answer, Commands};

/// The probes it needs.
pub const PROBES: &[&str] = &[
    "dyntrace:efile_drv-entry",
    "dyntrace:efile_drv-int_entry",
    "dyntrace:efile_drv-int_return",
    "dyntrace:efile_drv-return",
];

const TITLES: &str = "command       phase       count   mean_us   <1us   <4us  <16us  <64us <256us   <1ms   <4ms  <16ms  <64ms \
                      <256ms    <1s   more\n";

/// Where the columns of the histogram end, in nanoseconds; the last one has no end.
const ENDS: [i64; 11] =
    [1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000, 4_000_000, 16_000_000, 64_000_000, 256_000_000, 1_000_000_000];

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    InQueue,
    Service,
    ToAnswer,
}

/// How long a phase of a command took.
#[derive(Default)]
struct Times {
    count: i64,
    sum_us: i64,
    histogram: [u64; ENDS.len() + 1],
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
        out.extend_from_slice(TITLES.as_bytes());
        for (&(command, phase), times) in &self.times {
            let phase = match phase {
                Phase::InQueue => "in queue",
                Phase::Service => "service",
                Phase::ToAnswer => "to answer",
            };
            let mean_us = times.sum_us / times.count;
            let mut row = format!("{:<13} {phase:<9} {:>7} {mean_us:>9}", self.commands.name(command), times.count);
            for count in times.histogram {
                row += &format!(" {count:>6}");
            }
            out.extend_from_slice(row.as_bytes());
            out.push(b'\n');
        }
    }
}

impl Times {
    fn add(&mut self, took: i64) {
        self.count += 1;
        self.sum_us += took / 1000;
        self.histogram[ENDS.partition_point(|end| *end <= took)] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_ends_before_its_title() {
        let mut times = Times::default();
        for took in [0, 999, 1_000, 3_999, 256_000, 999_999_999, 1_000_000_000, i64::MAX / 2] {
            times.add(took);
        }
        assert_eq!(times.histogram, [2, 2, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2]);
    }
}
