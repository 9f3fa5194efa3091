//! A piece of a clock: a line, by the arithmetic of engines.

use super::span::clamp;

/// A stretch of time in which a clock goes ahead of the reference's by a line.
///
/// ```
/// use dyntrace_fleet::clocks::Piece;
///
/// let piece = Piece { from: 1_000, until: 2_000, ahead: 300, drift: 0.01, error: Some(5) };
/// assert_eq!((piece.time(1_000), piece.time(1_500)), (700, 1_195));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// The first time of the piece, in nanoseconds by the host's clock.
    pub from: i64,
    /// The first time after it.
    pub until: i64,
    /// How far the clock is ahead of the reference's at `from`, in nanoseconds. Negative: behind it.
    pub ahead: i64,
    /// By how much more it is ahead with each nanosecond.
    pub drift: f64,
    /// Times are wrong by at most these nanoseconds. `None` if messages bound them from one side only.
    pub error: Option<i64>,
}

impl Piece {
    /// Returns the time of the reference's clock when the host's clock showed `time`: `time - ahead - floor((time - from) * drift)`, with
    /// the product in floating-point numbers of 64 bits. Engines compute the same.
    pub fn time(&self, time: i64) -> i64 {
        clamp(i128::from(time) - self.lead(time))
    }

    /// The lead at this time.
    pub(super) fn lead(&self, time: i64) -> i128 {
        let more = (i128::from(time) - i128::from(self.from)) as f64 * self.drift;
        i128::from(self.ahead) + more.floor() as i128
    }
}
