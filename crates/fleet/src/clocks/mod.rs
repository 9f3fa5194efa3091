//! Clocks of hosts, aligned by the messages between them.
//!
//! A message is received after it was sent. So, with each clock as far ahead of the reference as its *lead* says, a message from host a to
//! host b bounds the difference of their leads: `lead(b) - lead(a) <= received - sent`. Two messages in opposite directions bound it from
//! both sides. Between messages the bounds widen by the most that clocks drift.
//!
//! These are difference constraints: one unknown for each end of a message, one constraint for each message, and two for each pair of
//! neighbouring ends on one clock. Their solutions are known in the literature on shortest paths: the lengths of the shortest paths from an
//! end on the reference give the largest lead of each other end, those of the shortest paths to it the smallest. The middle of both is a
//! solution, too, as solutions are convex. So no message goes backwards, to the nanosecond, and half the distance is the error bar.
//!
//! Hosts from which messages only come, or to which they only go, are bounded from one side. They get the bound, without an error bar.
//! Hosts without any message to the others cannot be aligned.

mod graph;
mod paths;

use std::collections::BTreeMap;

use graph::Graph;

/// A message from one host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The number of the host that sent it.
    pub from: usize,
    /// When it was sent, in nanoseconds by that host's clock.
    pub sent: i64,
    /// The number of the host that received it.
    pub to: usize,
    /// When it was received, in nanoseconds by that host's clock.
    pub received: i64,
}

/// The messages contradict each other: a clock was set, or drifted by more than the limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} messages cannot all have been received after they were sent: a clock was set, or drifts by more than the limit", .messages.len())]
pub struct Contradiction {
    /// The indices of messages of which at least one is wrong.
    pub messages: Vec<usize>,
}

/// A time by the reference's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aligned {
    /// Nanoseconds.
    pub time: i64,
    /// The time is wrong by at most these nanoseconds. `None` if messages bound it from one side only.
    pub error: Option<i64>,
}

/// Clocks aligned to the clock of a reference, returned by [`align`].
#[derive(Clone, Debug)]
pub struct Alignment {
    clocks: BTreeMap<usize, Clock>,
    drift: i128,
}

/// The lead of a clock at its ends of messages.
#[derive(Clone, Debug, Default)]
struct Clock {
    /// In the order of time, each time once.
    knots: Vec<Knot>,
}

#[derive(Clone, Copy, Debug)]
struct Knot {
    time: i64,
    lead: i128,
    error: Option<i128>,
}

/// Aligns the clocks of the hosts that messages connect with the host `reference`. Clocks drift by at most `drift` parts in a million,
/// relative to the reference's.
///
/// Time is that of the shortest paths: a few passes over all messages, more the more hosts a path leads through.
///
/// ```
/// use dyntrace_fleet::clocks::{Message, align};
///
/// // Host 1 is 1000 ns ahead; a message takes 10 ns.
/// let there = Message { from: 0, sent: 5_000, to: 1, received: 6_010 };
/// let back = Message { from: 1, sent: 6_010, to: 0, received: 5_020 };
/// let alignment = align(0, &[there, back], 100)?;
/// let aligned = alignment.time(1, 6_010).expect("host 1 is aligned");
/// assert_eq!((aligned.time, aligned.error), (5_010, Some(10)));
/// # Ok::<(), dyntrace_fleet::clocks::Contradiction>(())
/// ```
///
/// # Errors
///
/// If the messages contradict each other.
pub fn align(reference: usize, messages: &[Message], drift: u32) -> Result<Alignment, Contradiction> {
    let drift = i128::from(drift);
    let graph = Graph::of(reference, messages, drift);
    let bounds = graph.bounds()?;
    let mut clocks = BTreeMap::<usize, Clock>::new();
    for (end, bound) in graph.ends().zip(bounds) {
        let Some((lead, error)) = bound else { continue };
        clocks.entry(end.host).or_default().knots.push(Knot { time: end.time, lead, error });
    }
    // The reference is its own, also without messages.
    clocks.entry(reference).or_insert_with(|| Clock { knots: vec![Knot { time: 0, lead: 0, error: Some(0) }] });
    Ok(Alignment { clocks, drift })
}

impl Alignment {
    /// Returns the time of the reference's clock when the host's clock showed `time`; `None` if no messages connect the host with it.
    pub fn time(&self, host: usize, time: i64) -> Option<Aligned> {
        let knots = &self.clocks.get(&host)?.knots;
        let behind = knots.partition_point(|knot| knot.time <= time);
        let before = behind.checked_sub(1).map(|at| &knots[at]);
        let (lead, error) = match (before, knots.get(behind)) {
            (Some(one), Some(other)) => one.between(other, time, self.drift),
            (Some(one), None) | (None, Some(one)) => one.beyond(time, self.drift),
            (None, None) => return None,
        };
        let time = clamp(i128::from(time) - lead);
        Some(Aligned { time, error: error.map(clamp) })
    }
}

impl Knot {
    /// The lead at a time between two knots, on the line that joins them.
    fn between(&self, other: &Knot, time: i64, drift: i128) -> (i128, Option<i128>) {
        let (whole, part) = (gap(self.time, other.time), gap(self.time, time));
        let (more, whole) = (other.lead - self.lead, whole.max(1));
        // Of times ages apart the product does not fit, and fractions of nanoseconds do not matter.
        let more = more.checked_mul(part).map_or_else(|| more / whole * part, |product| product.div_euclid(whole));
        let lead = self.lead + more;
        // From both sides the error grows by the drift of the clock and by that of the line.
        let [one, two] =
            [self, other].map(|knot| Some(knot.error? + 2 * graph::drifted(gap(knot.time, time), drift) + 1));
        let error = if part == 0 { self.error } else { one.zip(two).map(|(one, two)| one.min(two)) };
        (lead, error)
    }

    /// The lead at a time before the first knot or after the last.
    fn beyond(&self, time: i64, drift: i128) -> (i128, Option<i128>) {
        (self.lead, self.error.map(|error| error + graph::drifted(gap(self.time, time), drift)))
    }
}

fn gap(one: i64, other: i64) -> i128 {
    (i128::from(other) - i128::from(one)).abs()
}

fn clamp(number: i128) -> i64 {
    number.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}
