//! The aligned clocks.

use std::collections::BTreeMap;

use super::fit;
use super::graph::{Bound, Graph};
use super::knots::{self, Knot};
use super::message::{Contradiction, Message};
use super::piece::Piece;
use super::span::{FIRST, LAST, clamp};
use super::windows::{Window, windows};

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
}

#[derive(Clone, Debug)]
struct Clock {
    /// The most by which it drifts, in parts in a million.
    drift: i128,
    /// The ends of its messages, in the order of time, each time once.
    knots: Vec<Knot>,
    pieces: Vec<Piece>,
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
    let mut knots = BTreeMap::<usize, Vec<Knot>>::new();
    for ((end, bound), window) in graph.ends().iter().zip(&bounds).zip(windows(&graph, &bounds)) {
        if let (Some(bound), Some(window)) = (*bound, window) {
            knots.entry(end.host).or_default().push(Knot { time: end.time, bound, window });
        }
    }
    // The reference is its own, also without messages.
    knots.remove(&reference);
    let clocks = knots.into_iter().map(|(host, knots)| (host, Clock::of(knots, drift)));
    Ok(Alignment { clocks: clocks.chain([(reference, Clock::reference())]).collect() })
}

impl Alignment {
    /// Returns the time of the reference's clock when the host's clock showed `time`; `None` if no messages connect the host with it.
    pub fn time(&self, host: usize, time: i64) -> Option<Aligned> {
        let Clock { drift, knots, pieces } = self.clocks.get(&host)?;
        let piece = pieces.partition_point(|piece| piece.from <= time).saturating_sub(1);
        let piece = pieces.get(piece)?;
        let behind = knots.partition_point(|knot| knot.time <= time);
        let before = behind.checked_sub(1).and_then(|at| knots.get(at));
        let around = match (before, knots.get(behind)) {
            // The bounds at an end of a message are exact.
            (Some(one), _) if one.time == time => [one, one],
            (Some(one), Some(other)) => [one, other],
            (Some(one), None) | (None, Some(one)) => [one, one],
            (None, None) => return None,
        };
        let lead = piece.lead(time);
        let error = knots::range(around, time, *drift).map(|[least, most]| clamp((most - lead).max(lead - least)));
        Some(Aligned { time: piece.time(time), error })
    }

    /// Returns the pieces of the host's clock in the order of time, each from the end of the one before; none if no messages connect the
    /// host with the reference. [`Piece::time`] gives the same times as [`time`](Self::time). Its error is that of the whole piece, so it is
    /// not smaller.
    ///
    /// Pieces are few: one goes on while it is a solution, and while the error does not grow to four times the smallest one.
    pub fn pieces(&self, host: usize) -> &[Piece] {
        self.clocks.get(&host).map_or(&[], |clock| &clock.pieces)
    }
}

impl Clock {
    fn of(knots: Vec<Knot>, drift: i128) -> Clock {
        let pieces = fit::pieces(&knots::completed(&knots, drift), drift);
        Clock { drift, knots, pieces }
    }

    fn reference() -> Clock {
        let bound = Bound { lead: 0, range: Some([0, 0]) };
        let knots = vec![Knot { time: 0, bound, window: Window { low: 0, high: 0 } }];
        let pieces = vec![Piece { from: FIRST, until: LAST, ahead: 0, drift: 0.0, error: Some(0) }];
        Clock { drift: 0, knots, pieces }
    }
}
