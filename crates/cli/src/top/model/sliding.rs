//! Figures of the last seconds, and of all the time.

use std::collections::VecDeque;

/// How many whole seconds the window has, the current one included.
pub const WINDOW: i64 = 10;
pub const SECOND: i64 = 1_000_000_000;

/// Figures that add up.
pub trait Sum: Default {
    fn merge(&mut self, other: &Self);
}

/// The figures of each of the last seconds.
#[derive(Default)]
pub struct Sliding<S> {
    /// By second since 1970, in order; at most [`WINDOW`].
    seconds: VecDeque<(i64, S)>,
}

impl<S: Sum> Sliding<S> {
    /// The figures of the second of `time`. `None` if that second has left the window.
    pub fn at(&mut self, time: i64) -> Option<&mut S> {
        let second = time.div_euclid(SECOND);
        let newest = self.seconds.back().map_or(second, |(newest, _)| second.max(*newest));
        while self.seconds.front().is_some_and(|(oldest, _)| newest - oldest >= WINDOW) {
            self.seconds.pop_front();
        }
        if newest - second >= WINDOW {
            return None;
        }
        // Events of threads are a little late, so the place is at the end or close to it.
        let place = self.seconds.iter().rposition(|(other, _)| *other <= second);
        let place = match place {
            Some(place) if self.seconds[place].0 == second => place,
            place => {
                let place = place.map_or(0, |before| before + 1);
                self.seconds.insert(place, (second, S::default()));
                place
            }
        };
        Some(&mut self.seconds[place].1)
    }

    /// The sum of the window that ends at `now`.
    pub fn sum(&self, now: i64) -> S {
        let last = now.div_euclid(SECOND);
        let mut sum = S::default();
        self.seconds
            .iter()
            .filter(|(second, _)| (last - WINDOW + 1..=last).contains(second))
            .for_each(|(_, figures)| sum.merge(figures));
        sum
    }

    /// Adds the seconds of another one.
    pub fn merge(&mut self, other: &Self) {
        for (second, figures) in &other.seconds {
            if let Some(own) = self.at(second * SECOND) {
                own.merge(figures);
            }
        }
    }
}

/// The time of the first nanosecond of the window that ends at `now`.
pub fn begin(now: i64) -> i64 {
    (now.div_euclid(SECOND) - WINDOW + 1).saturating_mul(SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Sum for u64 {
        fn merge(&mut self, other: &u64) {
            *self += other;
        }
    }

    fn counted(times: &[i64]) -> Sliding<u64> {
        let mut sliding = Sliding::default();
        for time in times {
            if let Some(count) = sliding.at(*time) {
                *count += 1;
            }
        }
        sliding
    }

    #[test]
    fn the_window_has_ten_seconds() {
        let sliding = counted(&[0, SECOND - 1, SECOND, 9 * SECOND]);
        assert_eq!(sliding.sum(9 * SECOND), 4);
        assert_eq!(sliding.sum(10 * SECOND - 1), 4);
        assert_eq!(sliding.sum(10 * SECOND), 2);
        assert_eq!(sliding.sum(18 * SECOND), 1);
        assert_eq!(sliding.sum(19 * SECOND), 0);
        assert_eq!(begin(19 * SECOND + 5), 10 * SECOND);
    }

    #[test]
    fn late_events_count_in_their_second() {
        let mut sliding = counted(&[5 * SECOND, 3 * SECOND, 4 * SECOND, 3 * SECOND]);
        assert_eq!(sliding.seconds.iter().map(|(second, _)| *second).collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!(sliding.sum(12 * SECOND), 4);
        assert_eq!(sliding.sum(13 * SECOND), 2);
        *sliding.at(14 * SECOND).unwrap() += 1;
        assert_eq!(sliding.at(4 * SECOND), None);
        assert_eq!(sliding.sum(14 * SECOND), 2);
    }

    #[test]
    fn a_long_recording_keeps_ten_seconds() {
        let sliding = counted(&(0..1000).map(|second| second * SECOND).collect::<Vec<_>>());
        assert_eq!(sliding.seconds.len(), 10);
    }

    #[test]
    fn merged_seconds_are_those_of_both() {
        let mut one = counted(&[SECOND, 2 * SECOND]);
        one.merge(&counted(&[2 * SECOND, 11 * SECOND]));
        assert_eq!(one.sum(11 * SECOND), 3);
    }
}
