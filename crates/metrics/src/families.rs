//! The one table of names: what each metric is called, what it means, and where its values are.

use std::time::Duration;

use crate::figures::{CommandFigures, Figures, LaneFigures, SessionFigures, Times};

/// How a metric's values behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Only grows, until the process or the pool ends.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts durations in buckets.
    Histogram,
}

/// The unit of a metric's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// A number of things.
    Count,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
}

/// The value of one series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// Of a counter or a gauge.
    Number(u64),
    /// Of a counter in seconds.
    Time(Duration),
    /// Of a histogram in seconds.
    Times(&'a Times),
}

/// Takes the labels and the value of one series.
type Take<'t, 'f> = dyn FnMut(&[(&'static str, &str)], Value<'f>) + 't;

/// A metric: its name and its series.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Family {
    /// The name.
    pub name: &'static str,
    /// How its values behave.
    pub kind: Kind,
    /// The unit of its values.
    pub unit: Unit,
    /// A sentence that says which thing the metric counts.
    pub help: &'static str,
    source: Source,
}

/// Where a family's values are.
#[derive(Clone, Copy, Debug)]
enum Source {
    OfCommands(fn(&CommandFigures) -> Value<'_>),
    OfLanes(fn(&LaneFigures) -> Value<'_>),
    OfSessions(fn(&SessionFigures) -> Value<'_>),
    /// Events of the monitor, by kind.
    OfEvents,
    /// One series without labels, or none.
    Of(fn(&Figures) -> Option<u64>),
}

use Kind::{Counter, Gauge, Histogram};
use Source::{Of, OfCommands, OfEvents, OfLanes, OfSessions};
use Unit::{Bytes, Count, Seconds};
use Value::Number;

/// All metrics.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "dyntrace_operations_total",
        kind: Counter,
        unit: Count,
        help: "Operations that ran.",
        source: OfCommands(|of| Number(of.operations)),
    },
    Family {
        name: "dyntrace_operation_errors_total",
        kind: Counter,
        unit: Count,
        help: "Operations that failed.",
        source: OfCommands(|of| Number(of.errors)),
    },
    Family {
        name: "dyntrace_operation_bytes_total",
        kind: Counter,
        unit: Bytes,
        help: "Bytes that operations moved.",
        source: OfCommands(|of| Number(of.bytes)),
    },
    Family {
        name: "dyntrace_operation_service_seconds_total",
        kind: Counter,
        unit: Seconds,
        help: "Time that operations took, without their waits for a thread.",
        source: OfCommands(|of| Value::Time(of.service)),
    },
    Family {
        name: "dyntrace_pool_jobs_total",
        kind: Counter,
        unit: Count,
        help: "Jobs that I/O threads took out of the queues, cancelled ones included.",
        source: OfLanes(|of| Number(of.operations)),
    },
    Family {
        name: "dyntrace_pool_wait_seconds",
        kind: Histogram,
        unit: Seconds,
        help: "Times from the submission of a job until an I/O thread took it.",
        source: OfLanes(|of| Value::Times(&of.wait)),
    },
    Family {
        name: "dyntrace_pool_service_seconds",
        kind: Histogram,
        unit: Seconds,
        help: "Times that jobs ran.",
        source: OfLanes(|of| Value::Times(&of.service)),
    },
    Family {
        name: "dyntrace_pool_queued_jobs",
        kind: Gauge,
        unit: Count,
        help: "Jobs in the queues.",
        source: OfLanes(|of| Number(of.queued)),
    },
    Family {
        name: "dyntrace_pool_waiting_jobs",
        kind: Gauge,
        unit: Count,
        help: "Jobs that wait for room because the queues are full.",
        source: Of(|of| Some(of.waiting)),
    },
    Family {
        name: "dyntrace_pool_threads",
        kind: Gauge,
        unit: Count,
        help: "I/O threads.",
        source: OfLanes(|of| Number(of.threads)),
    },
    Family {
        name: "dyntrace_pool_idle_threads",
        kind: Gauge,
        unit: Count,
        help: "I/O threads without a job.",
        source: OfLanes(|of| Number(of.idle)),
    },
    Family {
        name: "dyntrace_pool_blocked_threads",
        kind: Gauge,
        unit: Count,
        help: "I/O threads that were found blocked in a job while other jobs waited.",
        source: OfLanes(|of| Number(of.blocked)),
    },
    Family {
        name: "dyntrace_recorder_sessions",
        kind: Gauge,
        unit: Count,
        help: "Sessions of the recorder.",
        source: Of(|of| of.sessions.as_ref().map(|sessions| sessions.len() as u64)),
    },
    Family {
        name: "dyntrace_recorder_lost_events_total",
        kind: Counter,
        unit: Count,
        help: "Events that a session lost for lack of room.",
        source: OfSessions(|of| Number(of.lost)),
    },
    Family {
        name: "dyntrace_recorder_files_removed",
        kind: Gauge,
        unit: Count,
        help: "1 if files that a session writes were removed: their events are lost, and not counted. Else 0.",
        source: OfSessions(|of| Number(of.removed)),
    },
    Family {
        name: "dyntrace_recorder_bytes_total",
        kind: Counter,
        unit: Bytes,
        help: "Bytes that a session recorded.",
        source: OfSessions(|of| Number(of.bytes)),
    },
    Family {
        name: "dyntrace_monitor_events_total",
        kind: Counter,
        unit: Count,
        help: "Limits that the program's monitor found crossed.",
        source: OfEvents,
    },
    Family {
        name: "dyntrace_monitor_left_out_events_total",
        kind: Counter,
        unit: Count,
        help: "Events of the monitor that were counted only, as there were too many at once.",
        source: Of(|of| of.monitor.as_ref().map(|monitor| monitor.left_out)),
    },
    Family {
        name: "dyntrace_monitor_panics_total",
        kind: Counter,
        unit: Count,
        help: "Panics of the function that the monitor calls for events.",
        source: Of(|of| of.monitor.as_ref().map(|monitor| monitor.panics)),
    },
    Family {
        name: "dyntrace_left_out_commands",
        kind: Gauge,
        unit: Count,
        help: "Commands that are missing here, because the process has too many for one answer.",
        source: Of(|of| of.left_out),
    },
];

impl Family {
    /// Calls `take` with the labels and the value of each series.
    pub fn series<'f>(&self, figures: &'f Figures, take: &mut Take<'_, 'f>) {
        match self.source {
            OfCommands(value) => {
                figures
                    .commands
                    .iter()
                    .for_each(|of| take(&[("driver", &of.driver), ("command", &of.command)], value(of)));
            }
            OfLanes(value) => figures.lanes.iter().for_each(|of| take(&[("lane", &of.lane)], value(of))),
            OfSessions(value) => {
                let sessions = figures.sessions.iter().flatten();
                sessions.for_each(|of| take(&[("session", &of.session.to_string())], value(of)));
            }
            OfEvents => {
                let events = figures.monitor.iter().flat_map(|of| &of.events);
                events.for_each(|&(kind, count)| take(&[("kind", kind)], Number(count)));
            }
            Of(value) => {
                if let Some(value) = value(figures) {
                    take(&[], Number(value));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rules of Prometheus for names.
    #[test]
    fn names_tell_kind_and_unit() {
        for family in FAMILIES {
            let name = family.name;
            assert!(
                name.starts_with("dyntrace_") && name.bytes().all(|c| c.is_ascii_lowercase() || c == b'_'),
                "{name}"
            );
            assert_eq!(name.ends_with("_total"), family.kind == Counter, "{name}");
            let without = name.trim_end_matches("_total");
            assert_eq!(without.ends_with("_seconds"), family.unit == Seconds, "{name}");
            assert_eq!(without.ends_with("_bytes"), family.unit == Bytes, "{name}");
            assert!(family.help.ends_with('.'), "{name}");
            assert_eq!(FAMILIES.iter().filter(|other| other.name == name).count(), 1, "{name}");
        }
    }

    /// The table in the documentation, which is also that of the chapter about metrics.
    #[test]
    fn the_documentation_names_all() {
        let documentation = include_str!("lib.rs");
        let told: Vec<&str> = documentation.lines().filter_map(|line| line.strip_prefix("//! | `dyntrace_")).collect();
        assert_eq!(told.len(), FAMILIES.len());
        for (family, line) in FAMILIES.iter().zip(told) {
            let (name, rest) = line.split_once("` | ").unwrap();
            assert_eq!(format!("dyntrace_{name}"), family.name);
            assert!(rest.starts_with(&format!("{:?}", family.kind).to_lowercase()), "{line}");
        }
    }
}
