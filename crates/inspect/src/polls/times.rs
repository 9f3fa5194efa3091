//! Durations by steps: eight to each power of two, so that a step is an eighth of its begin at most.

use std::collections::BTreeMap;

use serde::Serialize;

/// Binary digits of a duration that a step keeps, after the first.
pub const BITS: u32 = 3;

/// Many durations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    pub count: u64,
    /// In nanoseconds.
    pub total: u64,
    /// In nanoseconds.
    pub longest: u64,
    /// How many have each step.
    pub steps: BTreeMap<u64, u64>,
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
        for (step, count) in &other.steps {
            let sum = self.steps.entry(*step).or_default();
            *sum = sum.saturating_add(*count);
        }
    }

    /// Whether there are a count and a longest time.
    pub fn is_whole(&self) -> bool {
        self.count > 0 && self.longest > 0
    }

    /// How many durations have no step: the tracer's map was full.
    pub fn without_step(&self) -> u64 {
        self.count.saturating_sub(self.steps.values().fold(0, |sum, count| sum.saturating_add(*count)))
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
        let [low, high] = [below, wanted].map(|rank| self.step_of(rank));
        low.filter(|_| low == high).map(|step| end(step).min(self.longest))
    }

    /// The step of the duration with this rank among those with a step.
    fn step_of(&self, rank: u128) -> Option<u64> {
        let mut seen = 0;
        let reached = |(_, count): &(&u64, &u64)| {
            seen += u128::from(**count);
            seen >= rank
        };
        self.steps.iter().find(reached).map(|(step, _)| *step)
    }
}

/// The longest duration of a step.
fn end(step: u64) -> u64 {
    let group = step >> BITS;
    if group == 0 {
        return step;
    }
    let after = u128::from((step & ((1 << BITS) - 1)) + (1 << BITS) + 1) << (group - 1).min(64);
    u64::try_from(after - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The step of a duration, as the script computes it.
    fn step(time: u64) -> u64 {
        let power = u64::from(time.checked_ilog2().unwrap_or(0));
        let bits = u64::from(BITS);
        if power < bits { time } else { ((power - (bits - 1)) << bits) + ((time >> (power - bits)) & 7) }
    }

    #[test]
    fn steps_follow_each_other() {
        for time in (0..1 << 16).chain([u64::MAX - 1, u64::MAX]) {
            let end = end(step(time));
            assert!(time <= end && end - time <= time / 8, "{time}: {end}");
            assert_eq!(step(end), step(time));
            if end < u64::MAX {
                assert_eq!(step(end + 1), step(time) + 1);
            }
        }
        assert_eq!(end(u64::MAX), u64::MAX);
    }

    #[test]
    fn percentiles_do_not_exceed_the_longest() {
        let mut times = Times { count: 100, total: 10_000, longest: 1_000, ..Times::default() };
        times.steps.extend([(step(10), 98), (step(500), 1), (step(1_000), 1)]);
        let Summary { mean, p50, p99, max, .. } = times.summary();
        assert_eq!((mean, p50, max), (100, Some(end(step(10))), 1_000));
        assert!((500..=562).contains(&p99.unwrap()), "{p99:?}");
        assert_eq!(times.without_step(), 0);
        times.count += 5;
        assert_eq!(times.without_step(), 5);
        let Summary { p50, p99, .. } = times.summary();
        assert_eq!(
            (p50, p99),
            (Some(end(step(10))), None),
            "five of unknown steps may be the longest, or the shortest"
        );
        let one = Times { count: 1, total: 9, longest: 9, steps: [(step(9), 1)].into() };
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
