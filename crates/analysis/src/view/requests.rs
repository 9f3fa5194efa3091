//! `dyntrace view --slowest`: the slowest requests, as `dyntrace report` has them.

use std::fmt::Write as _;

use dyntrace_reader::{Event, FileOperations};
use dyntrace_terminal::columns::aligned;
use dyntrace_terminal::escape;
use indicatif::HumanCount;
use serde_json::json;

use crate::report::format::duration;
use crate::report::requests::{Request, Requests};

const TITLES: [&str; 9] =
    ["TOOK", "OUTSIDE", "QUEUE WAIT", "SERVICE", "DELIVERY", "OPERATIONS", "ERRORS", "AT", "USER TAG"];

/// The requests of a trace: user tags, each from its first entry to its last return.
pub struct Slowest<'t> {
    requests: Requests<'t>,
    /// The time of the first event.
    first: i64,
}

impl<'t> Slowest<'t> {
    /// Gathers the requests of `events`, which are all events of the trace or of a part of its time. `is_wanted` selects tags.
    pub fn of(events: impl Iterator<Item = Event<'t>>, kept: usize, is_wanted: impl Fn(&[u8]) -> bool) -> Slowest<'t> {
        let (mut requests, mut operations, mut first) = (Requests::new(kept), FileOperations::default(), None);
        for event in events {
            first.get_or_insert(event.time);
            requests.enter(&event, &is_wanted);
            if let Some(operation) = operations.push(&event)
                && operation.duration().is_some()
            {
                requests.leave(&operation, event.time);
            }
        }
        requests.end();
        Slowest { requests, first: first.unwrap_or_default() }
    }

    /// A line for each request, the slowest first.
    pub fn json(&self) -> String {
        let line = |request: &Request<'_>| {
            let object = json!({
                "user_tag": String::from_utf8_lossy(request.tag),
                "first_ns": request.first,
                "took_ns": request.duration(),
                "outside_ns": request.outside,
                "queue_wait_ns": request.queue_wait,
                "service_ns": request.service,
                "delivery_ns": request.delivery,
                "operations": request.operations,
                "errors": request.errors,
            });
            escape::json(object) + "\n"
        };
        self.requests.slowest.iter().map(line).collect()
    }

    /// A table, and the distribution of all requests.
    pub fn text(&self) -> String {
        let Requests { durations, slowest, is_cut, .. } = &self.requests;
        if slowest.is_empty() {
            return "no operation with such a user tag was answered\n".to_owned();
        }
        let rows: Vec<_> =
            [TITLES.map(str::to_owned)].into_iter().chain(slowest.iter().map(|request| self.cells(request))).collect();
        let mut text = aligned(&rows, |_| true).join("\n");
        let _ = write!(text, "\n{} requests", HumanCount(durations.len()));
        let percentiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)];
        let times = percentiles.map(|(name, part)| (name, durations.percentile(part)));
        for (name, time) in times.into_iter().chain([("longest", durations.longest())]) {
            let _ = time.map(|time| write!(text, ", {name} {}", duration(time as i64)));
        }
        text.push('\n');
        if *is_cut {
            text.push_str("there were more at once than can be followed: one that was idle for long may be two\n");
        }
        text
    }

    fn cells(&self, request: &Request<'_>) -> [String; 9] {
        let times = [request.duration(), request.outside, request.queue_wait, request.service, request.delivery];
        let [took, outside, queue_wait, service, delivery] = times.map(duration);
        let [operations, errors] = [request.operations, request.errors].map(|count| count.to_string());
        let at = duration(request.first.saturating_sub(self.first));
        [took, outside, queue_wait, service, delivery, operations, errors, at, escape::name(request.tag)]
    }
}
