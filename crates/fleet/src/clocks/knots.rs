//! The times at which the lead of a clock is bounded: the ends of its messages, and times between and beyond them at which the error has
//! grown to a multiple.

use super::graph::Bound;
use super::span::{FIRST, LAST, MILLION, clamp, drifted, gap};
use super::windows::Window;

/// The factor by which the error may grow in a piece.
pub(super) const GROWTH: i128 = 4;
/// Errors below this count as this when they are compared.
pub(super) const SMALL: i128 = 1_000;

/// A time on a clock, and the bounds of its lead then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Knot {
    pub(super) time: i64,
    pub(super) bound: Bound,
    pub(super) window: Window,
}

impl Knot {
    /// Half the range of its lead, and not too small.
    fn error(&self) -> Option<i128> {
        let [least, most] = self.bound.range?;
        Some(((most - least) / 2).max(SMALL))
    }

    /// The range of the lead at another time, by this knot alone.
    fn known_at(&self, time: i64, drift: i128) -> Option<[i128; 2]> {
        let room = drifted(gap(self.time, time), drift);
        self.bound.range.map(|[least, most]| [least - room, most + room])
    }

    /// A knot at a time between two neighbours, or beyond the last one, which is both of them then.
    fn between(one: &Knot, other: &Knot, time: i64, drift: i128) -> Knot {
        let (part, whole) = (gap(one.time, time), gap(one.time, other.time).max(1));
        let more = other.bound.lead - one.bound.lead;
        let more = more.checked_mul(part).map_or_else(|| more / whole * part, |product| product.div_euclid(whole));
        let bound = Bound { lead: one.bound.lead + more, range: range([one, other], time, drift) };
        Knot { time, bound, window: Window::rounded(&bound) }
    }
}

/// The range of the lead at a time between two knots.
pub(super) fn range(knots: [&Knot; 2], time: i64, drift: i128) -> Option<[i128; 2]> {
    let [one, other] = knots.map(|knot| knot.known_at(time, drift));
    one.zip(other).map(|([least, most], other)| [least.max(other[0]), most.min(other[1])])
}

/// Adds knots where the error has grown by `GROWTH`, and at the ends of time; then narrows the windows, so that a clock that drifts by no
/// more than the limit gets from each of them to the next, wherever it is in it.
pub(super) fn completed(knots: &[Knot], drift: i128) -> Vec<Knot> {
    let (Some(first), Some(last)) = (knots.first(), knots.last()) else { return Vec::new() };
    let mut all = Vec::with_capacity(knots.len() + 2);
    let beyond = |knot: &Knot, time| Knot::between(knot, knot, time, drift);
    if first.time > FIRST {
        all.push(beyond(first, FIRST));
        let times = grown(first, gap(FIRST, first.time), drift);
        all.extend(times.iter().rev().map(|after| beyond(first, back(first.time, *after))));
    }
    for pair in knots.windows(2) {
        all.push(pair[0]);
        let between = |time| Knot::between(&pair[0], &pair[1], time, drift);
        let (left, right) = meeting(&pair[0], &pair[1], drift);
        all.extend(grown(&pair[0], left, drift).iter().map(|after| between(forth(pair[0].time, *after))));
        all.extend(grown(&pair[1], right, drift).iter().rev().map(|after| between(back(pair[1].time, *after))));
    }
    all.push(*last);
    if last.time < LAST {
        let times = grown(last, gap(last.time, LAST), drift);
        all.extend(times.iter().map(|after| beyond(last, forth(last.time, *after))));
        all.push(beyond(last, LAST));
    }
    all.dedup_by_key(|knot| knot.time);
    narrow(&mut all, drift);
    all
}

/// How far from two neighbours their errors meet.
fn meeting(one: &Knot, other: &Knot, drift: i128) -> (i128, i128) {
    let whole = gap(one.time, other.time);
    let (Some(of_one), Some(of_other)) = (one.error(), other.error()) else { return (0, 0) };
    let more = (of_other - of_one).saturating_mul(MILLION).checked_div(drift).unwrap_or(0);
    let left = (whole.saturating_add(more) / 2).clamp(0, whole);
    (left, whole - left)
}

/// How long after the knot the error has grown by `GROWTH`, by its square and so on, within `limit`.
fn grown(knot: &Knot, limit: i128, drift: i128) -> Vec<i128> {
    let mut times = Vec::new();
    let Some(error) = knot.error().filter(|_| drift > 0) else { return times };
    let mut factor = GROWTH;
    while let Some(grown) = error.checked_mul(factor - 1).and_then(|more| more.checked_mul(MILLION)) {
        let after = grown / drift;
        if after >= limit {
            break;
        }
        times.push(after);
        factor *= GROWTH;
    }
    // Less than a nanosecond, with a drift that is out of all bounds.
    times.retain(|after| *after > 0);
    times
}

fn forth(time: i64, after: i128) -> i64 {
    clamp(i128::from(time) + after)
}

fn back(time: i64, before: i128) -> i64 {
    clamp(i128::from(time) - before)
}

fn narrow(knots: &mut [Knot], drift: i128) {
    for at in 1..knots.len() {
        let (before, behind) = knots.split_at_mut(at);
        narrow_by(&mut behind[0], &before[at - 1], drift);
    }
    for at in (1..knots.len()).rev() {
        let (before, behind) = knots.split_at_mut(at);
        narrow_by(&mut before[at - 1], &behind[0], drift);
    }
}

fn narrow_by(knot: &mut Knot, other: &Knot, drift: i128) {
    let room = drifted(gap(knot.time, other.time), drift);
    knot.window.low = knot.window.low.max(other.window.low - room);
    knot.window.high = knot.window.high.min(other.window.high + room);
}
