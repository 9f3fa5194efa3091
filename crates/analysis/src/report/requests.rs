//! User tags that are one a request: each from its first entry to its last return.

use std::collections::HashMap;

use dyntrace_reader::{Event, FileOperation, OperationStep};

use super::heat::Latencies;
use super::table;
use crate::figures::Spread;
use crate::render::operation::plain_text;

/// How many are followed at once. Beyond it, those that were idle longest have ended.
const FOLLOWED: usize = 1 << 16;

/// Fewer tags than this are not taken for requests.
const LEAST: u64 = 10;
/// Half of the requests take at most this part of the recording. Tags of tenants or of kinds of jobs last longer.
const PART: i64 = 4;

/// A request. Times are in nanoseconds.
#[derive(Clone, Default)]
pub struct Request<'t> {
    pub tag: &'t [u8],
    /// The time of its first entry, since 1970.
    pub first: i64,
    /// The time of its last return, since 1970.
    pub last: i64,
    /// How many operations were answered.
    pub operations: u64,
    pub errors: u64,
    /// How long none of its operations was in flight.
    pub outside: i64,
    /// Sums over its operations, which may overlap.
    pub queue_wait: i64,
    pub service: i64,
    pub delivery: i64,
    in_flight: u32,
}

impl Request<'_> {
    pub fn duration(&self) -> i64 {
        self.last.saturating_sub(self.first)
    }
}

#[derive(Default)]
pub struct Requests<'t> {
    open: HashMap<&'t [u8], Request<'t>>,
    /// How many of the slowest are kept.
    kept: usize,
    pub durations: Spread,
    pub steps: Latencies,
    /// The slowest first.
    pub slowest: Vec<Request<'t>>,
    /// Whether there were too many at once to follow all.
    pub is_cut: bool,
}

impl<'t> Requests<'t> {
    /// `kept` of the slowest are kept, at least one.
    pub fn new(kept: usize) -> Requests<'t> {
        Requests { kept, ..Requests::default() }
    }

    /// Takes the event if it enters an operation with a user tag that `is_wanted`.
    pub fn enter(&mut self, event: &Event<'t>, is_wanted: impl Fn(&[u8]) -> bool) {
        let Some((_, OperationStep::Entry)) = event.class.operation_step() else { return };
        let (tag, time) = (plain_text(event, "user_tag"), event.time);
        if tag.is_empty() || !is_wanted(tag) {
            return;
        }
        if self.open.len() == FOLLOWED && !self.open.contains_key(tag) {
            self.end_idle();
        }
        let request =
            self.open.entry(tag).or_insert_with(|| Request { tag, first: time, last: time, ..Request::default() });
        if request.in_flight == 0 {
            request.outside = request.outside.saturating_add(time.saturating_sub(request.last).max(0));
        }
        request.in_flight += 1;
    }

    /// An operation was answered at `time`.
    pub fn leave(&mut self, operation: &FileOperation<'t>, time: i64) {
        // Its entry was taken, unless the request has ended since.
        let Some(request) = self.open.get_mut(operation.request.user_tag) else { return };
        request.in_flight = request.in_flight.saturating_sub(1);
        request.last = request.last.max(time);
        request.operations += 1;
        request.errors += u64::from(operation.completion.is_some_and(|answer| !answer.success));
        let add = |sum: &mut i64, time: Option<i64>| *sum = sum.saturating_add(time.unwrap_or(0).max(0));
        add(&mut request.queue_wait, operation.queue_wait());
        add(&mut request.service, operation.service());
        add(&mut request.delivery, operation.delivery());
    }

    /// Ends the requests that are open. Returns whether the tags are one a request, in a recording of this length: if they are short, or
    /// too many for rows of their own.
    pub fn finish(&mut self, length: i64) -> bool {
        self.end();
        let count = self.durations.len();
        let median = self.durations.at(count.div_ceil(2)).map_or(i64::MAX, |ends| ends.longest as i64);
        count > table::KEPT as u64 || count >= LEAST && median <= length / PART
    }

    /// Ends the requests that are open.
    pub fn end(&mut self) {
        self.end_all(|_| true);
    }

    /// Ends the half that was idle longest; of requests with an operation in flight only if there are no others.
    fn end_idle(&mut self) {
        self.is_cut = true;
        let key = |request: &Request<'_>| (request.in_flight > 0, request.last);
        let mut keys: Vec<_> = self.open.values().map(key).collect();
        let (_, middle, _) = keys.select_nth_unstable(FOLLOWED / 2);
        let middle = *middle;
        self.end_all(|request| key(request) <= middle);
    }

    fn end_all(&mut self, has_ended: impl Fn(&Request<'t>) -> bool) {
        let mut ended: Vec<Request<'t>> =
            self.open.extract_if(|_, request| has_ended(request)).map(|(_, ended)| ended).collect();
        ended.sort_by_key(|request| (request.first, request.tag));
        for request in ended.into_iter().filter(|request| request.operations > 0) {
            self.durations.count(request.duration());
            self.steps.count(request.duration());
            let place = self.slowest.partition_point(|other| other.duration() >= request.duration());
            if place < self.kept {
                self.slowest.truncate(self.kept - 1);
                self.slowest.insert(place, request);
            }
        }
    }
}
