//! The counts of a process at one instant, of this process or read from another one.

use std::borrow::Cow;
use std::time::Duration;

use dyntrace::aio_pool::{Histogram, LaneMetrics, Metrics};
#[cfg(feature = "monitor")]
use dyntrace::monitor::{self, Counts, Kind};

/// The counts of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Figures {
    /// Jobs that wait for room because the queues are full.
    pub waiting: u64,
    /// The pools' lanes.
    pub lanes: Vec<LaneFigures>,
    /// Operations by driver and command.
    pub commands: Vec<CommandFigures>,
    /// The recorder's sessions; `None` if they are unknown.
    pub sessions: Option<Vec<SessionFigures>>,
    /// The program's monitors; `None` if it has had none.
    pub monitor: Option<MonitorFigures>,
    /// Commands for which a process's answer had no room; `None` if all were read.
    pub left_out: Option<u64>,
}

/// The counts of one lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaneFigures {
    /// `fast` or `slow`.
    pub lane: Cow<'static, str>,
    /// Jobs in its queues.
    pub queued: u64,
    /// Its threads.
    pub threads: u64,
    /// Threads without a job.
    pub idle: u64,
    /// Threads that were found blocked in a job while other jobs waited.
    pub blocked: u64,
    /// Jobs taken out of its queues.
    pub operations: u64,
    /// Times from submission until a thread took the job.
    pub wait: Times,
    /// Times that jobs ran.
    pub service: Times,
}

/// The sums of one command of a driver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandFigures {
    /// The driver, such as `efile_drv`.
    pub driver: Cow<'static, str>,
    /// The command, such as `READ`.
    pub command: Cow<'static, str>,
    /// How many operations ran.
    pub operations: u64,
    /// How many of them failed.
    pub errors: u64,
    /// How many bytes they moved.
    pub bytes: u64,
    /// How long their jobs ran.
    pub service: Duration,
}

/// The counts of one session of the recorder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionFigures {
    /// Its number.
    pub session: u64,
    /// Bytes recorded.
    pub bytes: u64,
    /// Events lost for lack of room.
    pub lost: u64,
    /// 1 if files that the process writes were removed: their events are lost, and not counted. Else 0.
    pub removed: u64,
}

/// The counts of the monitors ([`dyntrace::monitor`]) that a program has had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MonitorFigures {
    /// Events by kind, such as `long_schedule`.
    pub events: Vec<(&'static str, u64)>,
    /// Events that were counted and not told, as one look found too many.
    pub left_out: u64,
    /// Panics of the program's function for events.
    pub panics: u64,
}

/// Durations, counted in buckets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Times {
    /// The sum of the durations.
    pub sum: Duration,
    /// The upper bound, exclusive, and the count of each bucket that is not empty, in the order of bounds. A bucket begins at half its
    /// bound. The last possible bound is [`Duration::MAX`].
    pub buckets: Vec<(Duration, u64)>,
}

impl Figures {
    /// Returns the counts of this process.
    pub fn now() -> Figures {
        Figures { monitor: monitor(), ..Figures::from(&dyntrace::aio_pool::metrics()) }
    }
}

impl From<&Metrics> for Figures {
    fn from(metrics: &Metrics) -> Figures {
        let commands = metrics.commands.iter().map(|sums| CommandFigures {
            driver: sums.driver.into(),
            command: sums.command.into(),
            operations: sums.operations,
            errors: sums.errors,
            bytes: sums.bytes,
            service: sums.service,
        });
        Figures {
            waiting: metrics.waiting as u64,
            lanes: vec![lane("fast", &metrics.fast), lane("slow", &metrics.slow)],
            commands: commands.collect(),
            sessions: None,
            monitor: None,
            left_out: None,
        }
    }
}

#[cfg(feature = "monitor")]
fn monitor() -> Option<MonitorFigures> {
    monitor::counts().as_ref().map(MonitorFigures::from)
}

#[cfg(not(feature = "monitor"))]
fn monitor() -> Option<MonitorFigures> {
    None
}

#[cfg(feature = "monitor")]
impl From<&Counts> for MonitorFigures {
    fn from(counts: &Counts) -> MonitorFigures {
        MonitorFigures {
            events: Kind::ALL.map(|kind| (kind.name(), counts.of(kind))).into(),
            left_out: counts.left_out(),
            panics: counts.panics(),
        }
    }
}

fn lane(name: &'static str, lane: &LaneMetrics) -> LaneFigures {
    LaneFigures {
        lane: name.into(),
        queued: lane.queued as u64,
        threads: lane.threads as u64,
        idle: lane.idle as u64,
        blocked: lane.blocked as u64,
        operations: lane.operations,
        wait: Times::from(&lane.wait),
        service: Times::from(&lane.service),
    }
}

impl From<&Histogram> for Times {
    fn from(histogram: &Histogram) -> Times {
        Times { sum: histogram.sum(), buckets: histogram.buckets().collect() }
    }
}

impl Times {
    /// Returns how many durations were counted.
    pub fn count(&self) -> u64 {
        self.buckets.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// Returns how many durations were below `bound`. Exact if it is a power of two nanoseconds.
    pub fn below(&self, bound: Duration) -> u64 {
        let below = self.buckets.iter().filter(|(end, _)| *end <= bound);
        below.fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }
}
