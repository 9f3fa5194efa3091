//! Durations that bpftrace counted, by steps.

use dyntrace_analysis::figures::Steps;
use serde::Serialize;

/// Binary digits of a duration that a step has, after the first.
pub const BITS: u32 = 3;

/// Many durations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    pub count: u64,
    /// In nanoseconds.
    pub total: u64,
    /// In nanoseconds.
    pub longest: u64,
    pub steps: Steps<BITS>,
}

/// Many durations in five numbers, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub total: u64,
    pub mean: u64,
    /// `None` if the steps that are missing could change it.
    pub p50: Option<u64>,
    pub p99: Option<u64>,
    pub max: u64,
}

impl Times {
    pub fn add(&mut self, other: &Times) {
        self.count = self.count.saturating_add(other.count);
        self.total = self.total.saturating_add(other.total);
        self.longest = self.longest.max(other.longest);
        self.steps.merge(&other.steps);
    }

    /// Whether there are a count and a longest time.
    pub fn is_whole(&self) -> bool {
        self.count > 0 && self.longest > 0
    }

    /// How many durations have no step: the tracer's map was full.
    pub fn without_step(&self) -> u64 {
        self.count.saturating_sub(self.steps.len())
    }

    pub fn summary(&self) -> Summary {
        Summary {
            total: self.total,
            mean: self.total.checked_div(self.count).unwrap_or(0),
            p50: self.percentile(50),
            p99: self.percentile(99),
            max: self.longest,
        }
    }

    /// A duration that so many percent do not exceed: the end of its step. It is the same wherever the durations without a step belong.
    fn percentile(&self, percent: u64) -> Option<u64> {
        if self.count == 0 {
            return Some(0);
        }
        let wanted = (u128::from(self.count) * u128::from(percent)).div_ceil(100);
        let below = wanted.checked_sub(u128::from(self.without_step())).filter(|rank| *rank > 0)?;
        let [low, high] = [below, wanted].map(|place| self.steps.at(place));
        low.filter(|_| low == high).map(|step| step.longest.min(self.longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_do_not_exceed_the_longest() {
        let mut times = Times { count: 100, total: 10_000, longest: 1_000, ..Times::default() };
        (0..98).for_each(|_| times.steps.count(10));
        [500, 1_000].into_iter().for_each(|duration| times.steps.count(duration));
        let Summary { mean, p50, p99, max, .. } = times.summary();
        assert_eq!((mean, p50, max), (100, Some(10), 1_000));
        assert!((500..=562).contains(&p99.unwrap()), "{p99:?}");
        assert_eq!(times.without_step(), 0);
        times.count += 5;
        assert_eq!(times.without_step(), 5);
        let Summary { p50, p99, .. } = times.summary();
        assert_eq!((p50, p99), (Some(10), None), "five of unknown steps may be the longest, or the shortest");
        let one = Times { count: 1, total: 9, longest: 9, steps: [(9, 1)].into() };
        assert_eq!(one.summary(), Summary { total: 9, mean: 9, p50: Some(9), p99: Some(9), max: 9 });
        let none = Summary { p50: Some(0), p99: Some(0), ..Summary::default() };
        assert_eq!(Times::default().summary(), none);
    }

    #[test]
    fn sums_of_times() {
        let mut times = Times { count: 1, total: 9, longest: 9, steps: [(9, 1)].into() };
        times.add(&Times { count: 2, total: u64::MAX, longest: 4, steps: [(9, 1), (4, 1)].into() });
        assert_eq!(times, Times { count: 3, total: u64::MAX, longest: 9, steps: [(4, 1), (9, 2)].into() });
    }
}
