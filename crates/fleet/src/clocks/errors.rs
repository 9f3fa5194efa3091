//! The largest error of a line that stands for a clock.

use super::knots::{Knot, SMALL};
use super::piece::Piece;
use super::span::{clamp, drifted, gap};

/// Rounding of a line to whole nanoseconds, and of the point at which two bounds meet.
const ROUNDING: i128 = 2;

/// The largest error of a piece that goes from the first of these knots to the last; `None` if one of them is bounded from one side only.
pub(super) fn of_piece(piece: &Piece, knots: &[Knot], drift: i128) -> Option<i64> {
    let mut largest = 0;
    for pair in knots.windows(2) {
        let most_drifted = drifted(gap(pair[0].time, pair[1].time), drift);
        let [one, other] = [&pair[0], &pair[1]].map(|knot| Some((piece.lead(knot.time), knot.bound.range?)));
        let ((lead, [least, most]), (next_lead, [next_least, next_most])) = one.zip(other)?;
        let above = peak([most, next_most], [lead, next_lead], most_drifted);
        let below = peak([-least, -next_least], [-lead, -next_lead], most_drifted);
        largest = above.max(below).max(largest);
    }
    Some(clamp(largest))
}

/// Half the largest range of the lead between two knots.
pub(super) fn of_range(knots: [&Knot; 2], drift: i128) -> Option<i128> {
    let most_drifted = drifted(gap(knots[0].time, knots[1].time), drift);
    let [one, other] = knots.map(|knot| knot.bound.range.map(|[least, most]| most - least));
    Some((one? + other?) / 4 + most_drifted / 2)
}

/// The most by which a bound exceeds a line between two knots. The bound grows from each of them by the drift until both meet.
fn peak(bounds: [i128; 2], leads: [i128; 2], most_drifted: i128) -> i128 {
    let at_ends = (bounds[0] - leads[0]).max(bounds[1] - leads[1]);
    let highest = (bounds[0] + bounds[1] + most_drifted + 1).div_euclid(2);
    // Where they meet, in parts of twice the drift.
    let (whole, part) = (2 * most_drifted, (most_drifted + bounds[1] - bounds[0]).clamp(0, 2 * most_drifted));
    let lead = (leads[1] - leads[0]).checked_mul(part).and_then(|product| product.checked_div(whole));
    let lead = lead.map_or_else(|| leads[0].min(leads[1]), |more| leads[0] + more);
    at_ends.max(highest - lead) + ROUNDING
}

/// The smallest and the largest error of a piece.
#[derive(Debug, Default)]
pub(super) struct Spread {
    smallest: Option<i128>,
    largest: i128,
}

impl Spread {
    /// Adds an error. Returns whether the largest is less than `factor` times the smallest then.
    pub(super) fn add(&mut self, error: Option<i128>, factor: i128) -> bool {
        let Some(error) = error.map(|error| error.max(SMALL)) else { return self.smallest.is_none() };
        let smallest = self.smallest.map_or(error, |smallest| smallest.min(error));
        (self.smallest, self.largest) = (Some(smallest), self.largest.max(error));
        self.largest < smallest.saturating_mul(factor)
    }
}
