//! The tabs: their titles, keys and columns.

/// A tab, in the order of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tab {
    Operations,
    Tags,
    Tasks,
    Waits,
    Messages,
    Pools,
}

/// How a number is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Count,
    /// How many in a second.
    Rate,
    /// How many bytes in a second.
    BytesRate,
    /// Nanoseconds.
    Time,
    /// Nanoseconds, as a share of the time.
    Share,
}

/// A number of each row.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name in JSON.
    pub name: &'static str,
    pub title: &'static str,
    pub unit: Unit,
    /// Whether it is of the instant: then it is the same for all times.
    pub is_now: bool,
    /// Its turn to go if the screen is too narrow, from 1. 0: it stays.
    pub goes: u8,
}

impl Column {
    const fn goes(self, turn: u8) -> Column {
        Column { goes: turn, ..self }
    }
}

const fn column(name: &'static str, title: &'static str, unit: Unit) -> Column {
    Column { name, title, unit, is_now: false, goes: 0 }
}

const fn now(name: &'static str, title: &'static str) -> Column {
    Column { name, title, unit: Unit::Count, is_now: true, goes: 0 }
}

pub const OPERATIONS: [Column; 8] = [
    column("count", "OPS", Unit::Count).goes(1),
    column("count", "OPS/S", Unit::Rate),
    column("total_ns", "TOTAL", Unit::Time),
    column("errors", "ERRORS", Unit::Count).goes(4),
    column("bytes", "BYTES/S", Unit::BytesRate).goes(3),
    column("p50_ns", "P50", Unit::Time).goes(2),
    column("p99_ns", "P99", Unit::Time),
    column("max_ns", "MAX", Unit::Time),
];

pub const TASKS: [Column; 9] = [
    now("alive", "ALIVE"),
    now("not_polled", "STILL"),
    column("spawned", "SPAWNED", Unit::Count).goes(2),
    column("ended", "ENDED", Unit::Count).goes(1),
    column("panics", "PANICS", Unit::Count).goes(3),
    column("polls", "POLLS/S", Unit::Rate),
    column("busy_ns", "BUSY", Unit::Share),
    column("p99_ns", "P99", Unit::Time),
    column("max_ns", "LONGEST", Unit::Time),
];

pub const WAITS: [Column; 6] = [
    now("waiting", "WAITING"),
    column("waits", "WAITS", Unit::Count).goes(1),
    column("waits", "WAITS/S", Unit::Rate),
    column("waited_ns", "TOTAL", Unit::Time),
    column("p99_ns", "P99", Unit::Time),
    column("max_ns", "LONGEST", Unit::Time),
];

pub const MESSAGES: [Column; 6] = [
    now("queue", "QUEUE"),
    column("sent", "SENT", Unit::Count).goes(1),
    column("sent", "SENT/S", Unit::Rate),
    column("received", "RECEIVED", Unit::Count).goes(2),
    column("received", "RECEIVED/S", Unit::Rate),
    column("queue_max", "QUEUE MAX", Unit::Count),
];

pub const POOLS: [Column; 9] = [
    now("queue", "QUEUE"),
    now("busy", "BUSY"),
    now("threads", "THREADS"),
    column("jobs", "JOBS", Unit::Count).goes(1),
    column("jobs", "JOBS/S", Unit::Rate),
    column("queue_max", "QUEUE MAX", Unit::Count).goes(3),
    column("p50_ns", "P50", Unit::Time).goes(2),
    column("p99_ns", "P99", Unit::Time),
    column("max_ns", "MAX", Unit::Time),
];

impl Tab {
    pub const ALL: [Tab; 6] = [Tab::Operations, Tab::Tags, Tab::Tasks, Tab::Waits, Tab::Messages, Tab::Pools];

    /// Its name in JSON, and on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Tab::Operations => "operations",
            Tab::Tags => "tags",
            Tab::Tasks => "tasks",
            Tab::Waits => "waits",
            Tab::Messages => "messages",
            Tab::Pools => "pools",
        }
    }

    /// The names of the texts that a row is of.
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            Tab::Operations => &["command", "path"],
            Tab::Tags => &["tag"],
            Tab::Tasks => &["function"],
            Tab::Waits => &["kind", "place"],
            Tab::Messages => &["process", "receiver"],
            Tab::Pools => &["pool", "lane"],
        }
    }

    pub fn columns(self) -> &'static [Column] {
        match self {
            Tab::Operations | Tab::Tags => &OPERATIONS,
            Tab::Tasks => &TASKS,
            Tab::Waits => &WAITS,
            Tab::Messages => &MESSAGES,
            Tab::Pools => &POOLS,
        }
    }

    /// The column by which it is sorted at first.
    pub fn first_sort(self) -> usize {
        match self {
            Tab::Operations | Tab::Tags => 2,
            Tab::Messages => 1,
            Tab::Tasks => 6,
            Tab::Waits => 0,
            Tab::Pools => 4,
        }
    }

    /// The text in place of a tab's rows if it has none.
    pub fn nothing(self) -> &'static str {
        match self {
            Tab::Operations => "no operation has ended",
            Tab::Tags => "no operation has ended",
            Tab::Tasks => "no task that dyntrace::spawn or its Builder started has been polled",
            Tab::Waits => "no task has waited in dyntrace::sync, time, net, task, mailbox or wait",
            Tab::Messages => "no message was sent through dyntrace::mailbox",
            Tab::Pools => "no job has run",
        }
    }
}
