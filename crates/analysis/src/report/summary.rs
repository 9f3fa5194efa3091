//! The figures of the page, collected in one pass over the events. Their size does not grow with the trace.

use dyntrace_reader::{Event, FileOperations, Value};

use super::flows::Flows;
use super::heat::Latencies;
use super::queue_length::QueueLength;
use super::requests::Requests;
use super::slowest::Slowest;
use super::table::Table;
use super::tasks::Figures;
use super::timeline::Timeline;
use crate::figures::{Row, pattern};

/// How many of the slowest requests are shown.
const REQUESTS: usize = 40;

pub struct Summary<'t> {
    /// Times of the first and the last event, in nanoseconds since 1970.
    pub first: i64,
    pub last: i64,
    pub events: u64,
    pub latency: Timeline<Latencies>,
    pub queue: Timeline<QueueLength>,
    /// By driver and command.
    pub commands: Table<(&'t str, i32)>,
    pub tags: Table<&'t [u8]>,
    /// By the patterns of tags.
    pub patterns: Table<Vec<u8>>,
    pub requests: Requests<'t>,
    pub all: Row,
    pub slowest: Slowest<'t>,
    pub flows: Flows<'t>,
    pub tasks: Figures<'t>,
    pub operations: FileOperations<'t>,
    /// A buffer.
    pattern: Vec<u8>,
}

impl<'t> Summary<'t> {
    /// `first` is the time of the first event.
    pub fn new(first: i64) -> Self {
        Summary {
            first,
            last: first,
            events: 0,
            latency: Timeline::new(first),
            queue: Timeline::new(first),
            commands: Table::default(),
            tags: Table::default(),
            patterns: Table::default(),
            requests: Requests::new(REQUESTS),
            all: Row::default(),
            slowest: Slowest::default(),
            flows: Flows::default(),
            tasks: Figures::default(),
            operations: FileOperations::default(),
            pattern: Vec::new(),
        }
    }

    pub fn add(&mut self, event: &Event<'t>) {
        self.events += 1;
        self.last = self.last.max(event.time);
        if matches!(event.class.name.as_str(), "dyntrace:aio_pool-add" | "dyntrace:aio_pool-get")
            && let Some(Value::Signed(length)) = event.field("new_queue_length")
        {
            let bucket = self.queue.at(event.time);
            bucket.longest = bucket.longest.max(length);
            bucket.sum = bucket.sum.saturating_add(length);
            bucket.steps += 1;
        }
        self.flows.message(event);
        self.requests.enter(event, |_| true);
        self.tasks.add(event);
        if let Some(operation) = self.operations.push(event)
            && let Some(duration) = operation.duration()
        {
            self.latency.at(operation.entered).count(duration);
            self.commands.add(&(operation.driver, operation.request.command), &operation);
            self.tags.add(&operation.request.user_tag, &operation);
            pattern(operation.request.user_tag, &mut self.pattern);
            self.patterns.add(self.pattern.as_slice(), &operation);
            self.requests.leave(&operation, event.time);
            self.all.add(&operation);
            self.slowest.add(duration, &operation);
            self.flows.operation(&operation);
        }
    }
}
