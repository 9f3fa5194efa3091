//! Times and the spans between them, which do not overflow.

/// The first time of the first piece of a clock, in 1823, and the first time after the last piece, in 2116. So engines can subtract any two
/// times of pieces.
pub(super) const FIRST: i64 = -(1 << 62);
pub(super) const LAST: i64 = 1 << 62;

/// The unit of drift.
pub(super) const MILLION: i128 = 1_000_000;

/// The most by which a clock drifts in these nanoseconds.
pub(super) fn drifted(nanoseconds: i128, drift: i128) -> i128 {
    (nanoseconds * drift + MILLION - 1).div_euclid(MILLION)
}

pub(super) fn gap(one: i64, other: i64) -> i128 {
    (i128::from(other) - i128::from(one)).abs()
}

pub(super) fn clamp(number: i128) -> i64 {
    number.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}
