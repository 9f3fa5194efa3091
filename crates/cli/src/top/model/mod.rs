//! The figures of a recording up to an instant: of all the time, and of the last seconds. Their size does not grow with the recording.

mod figures;
mod listings;
mod pools;
pub mod sliding;
mod table;
mod tasks;
#[cfg(test)]
mod tests;
mod waits;

use dyntrace_analysis::figures::Row;
use dyntrace_analysis::operation::name_of;
use dyntrace_analysis::render::operation::{number, text};
use dyntrace_analysis::view::is_own;
use dyntrace_reader::{Event, FileOperation, Losses};
use dyntrace_terminal::escape;

use super::listing::Seconds;

use figures::Messages;
pub use pools::Counted;
use pools::Pools;
use sliding::SECOND;
use table::Table;
use tasks::Tasks;
use waits::Waits;

#[derive(Default)]
pub struct Model {
    /// When the recording began; for a trace, the time of its first event.
    pub start: Option<i64>,
    /// The instant up to which there are events.
    pub now: i64,
    pub events: u64,
    /// Operations without a return: given up, since too many were in flight at once.
    pub given_up: u64,
    pub losses: Losses,
    operations: Table<Row>,
    tags: Table<Row>,
    tasks: Tasks,
    waits: Waits,
    messages: Table<Messages>,
    pools: Pools,
}

impl Model {
    /// Of a recording that begins at `start`.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only processes on Linux are recorded"))]
    pub fn starting(start: i64) -> Model {
        Model { start: Some(start), now: start, ..Model::default() }
    }

    /// Takes the next event, about in the order of time. The recorder's own are left out, as in `view`.
    pub fn event(&mut self, event: &Event<'_>) {
        if is_own(event.class) {
            return;
        }
        self.events += 1;
        self.start.get_or_insert(event.time);
        self.now = self.now.max(event.time);
        self.tasks.push(event);
        self.waits.push(event);
        self.pools.push(event);
        self.message(event);
    }

    /// Takes an operation. One that is in flight is left out.
    pub fn operation(&mut self, operation: &FileOperation<'_>) {
        let Some(completion) = operation.completion else { return };
        let name = name_of(operation);
        let line = self.operations.line([name.as_bytes(), &operation.path]);
        line.add(completion.time, |row| row.add(operation));
        let line = self.tags.line([operation.request.user_tag]);
        line.add(completion.time, |row| row.add(operation));
    }

    fn message(&mut self, event: &Event<'_>) {
        let Some(step) = event.class.name.strip_prefix("dyntrace:message-") else { return };
        let receiver = text(event, "receiver");
        let pid = event.process.pid.to_string();
        let queue = || number(event, "queue_len").try_into().ok();
        let (queue, sent, received) = match step {
            "send" | "send-remote" => (None, 1, 0),
            "queued" => (queue(), 0, 0),
            "receive" => (queue(), 0, 1),
            _ => return,
        };
        let line = self.messages.line([pid.as_bytes(), &receiver]);
        line.gauge = queue.unwrap_or(line.gauge);
        line.add(event.time, |of| {
            of.sent += sent;
            of.received += received;
            of.queue_max = of.queue_max.max(queue.unwrap_or(0));
        });
    }

    /// Sets the threads and queues of a lane, as the process counts them.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only processes on Linux are asked"))]
    pub fn count_lane(&mut self, lane: &str, counted: Counted) {
        self.pools.counted.insert(escape::name(lane), counted);
    }

    /// The lengths of all the time and of the window.
    pub fn seconds(&self) -> Seconds {
        let start = self.start.unwrap_or(self.now);
        let length = |from: i64| self.now.saturating_sub(from).max(0) as f64 / SECOND as f64;
        Seconds { all: length(start), recent: length(start.max(sliding::begin(self.now))) }
    }
}
