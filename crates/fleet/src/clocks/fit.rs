//! A clock as few lines: each goes as far as it stays in the windows of its knots.

use super::errors;
use super::knots::{GROWTH, Knot};
use super::piece::Piece;
use super::span::{clamp, drifted, gap};

/// Returns the pieces of a clock with these knots, in the order of time.
///
/// Each line begins where the one before ends, at a whole nanosecond. It counts as far as it passes the windows when it is computed as
/// engines do, so their rounding moves no end of a message out of its window.
pub(super) fn pieces(knots: &[Knot], drift: i128) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let Some(first) = knots.first() else { return pieces };
    let (mut at, mut ahead) = (0, first.bound.lead);
    while at + 1 < knots.len() {
        let mut piece = longest(&knots[at..], ahead, drift);
        let length = knots[at..].partition_point(|knot| knot.time < piece.until);
        piece.error = errors::of_piece(&piece, &knots[at..=at + length], drift);
        pieces.push(piece);
        at += length;
        let window = knots[at].window;
        ahead = piece.lead(knots[at].time).max(window.low).min(window.high);
    }
    pieces
}

/// The piece that begins at the first of these knots with this lead, and ends at one of the others.
fn longest(knots: &[Knot], ahead: i128, drift: i128) -> Piece {
    let mut most = knots.len() - 1;
    loop {
        let (length, slope) = cone(&knots[..=most], ahead, drift);
        let [from, until] = [0, length].map(|at| knots[at].time);
        let piece = Piece { from, until, ahead: clamp(ahead), drift: slope, error: None };
        let fits = |knot: &Knot| (knot.window.low..=knot.window.high).contains(&piece.lead(knot.time));
        // The lead at its own end is made to fit when the next piece begins.
        if length == 1 || knots[1..=length].iter().all(fits) {
            return piece;
        }
        most = (length / 2).max(1);
    }
}

/// How many knots one line from the first of them with this lead can follow, and its slope: that which comes closest to the solution at the
/// last of them.
fn cone(knots: &[Knot], ahead: i128, drift: i128) -> (usize, f64) {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut found = (1, 0.0);
    let mut errors = errors::Spread::default();
    for (at, pair) in knots.windows(2).enumerate() {
        let knot = &pair[1];
        let passed = gap(knots[0].time, knot.time);
        let room = drifted(passed, drift);
        let least = (knot.window.low - ahead).max(-room);
        let most = (knot.window.high - ahead).min(room);
        let is_alike = errors.add(errors::of_range([&pair[0], knot], drift), GROWTH);
        // Not at the edges, where a rounding would leave the window.
        low = low.max(if least == 0 { 0.0 } else { (least as f64 + 0.25) / passed as f64 });
        high = high.min((most as f64 + 0.75) / passed as f64);
        if at > 0 && (low > high || !is_alike) {
            break;
        }
        let more = knot.bound.lead - ahead;
        let slope = if more == 0 { 0.0 } else { (more as f64 + 0.5) / passed as f64 };
        found = (at + 1, slope.min(high).max(low));
    }
    found
}
