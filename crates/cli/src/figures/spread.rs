//! Distributions of durations.

use hdrhistogram::Histogram;

/// The distribution of durations, within one percent. Their sum and the longest are exact.
#[derive(Clone)]
pub struct Spread {
    durations: Histogram<u64>,
    sum: u128,
    longest: u64,
}

/// Durations that the distribution does not tell apart, in nanoseconds: the shortest and the longest of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    pub shortest: u64,
    pub longest: u64,
}

impl Default for Spread {
    fn default() -> Self {
        Spread { durations: Histogram::new(2).expect("two digits are a precision"), sum: 0, longest: 0 }
    }
}

impl Spread {
    /// Counts a duration in nanoseconds. A negative one, between clocks that disagree, counts as zero.
    pub fn count(&mut self, nanoseconds: i64) {
        let duration = nanoseconds.max(0) as u64;
        self.durations.record(duration).expect("a histogram that grows takes any value");
        self.sum += u128::from(duration);
        self.longest = self.longest.max(duration);
    }

    /// How many durations were counted.
    pub fn len(&self) -> u64 {
        self.durations.len()
    }

    /// The percentile in nanoseconds; `None` if nothing was counted.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        (!self.durations.is_empty()).then(|| self.durations.value_at_percentile(percent))
    }

    /// The duration at a place in the order of length; the shortest has place 1. `None` if there are fewer.
    pub fn at(&self, place: u64) -> Option<Ends> {
        let mut passed = 0;
        let step = self.durations.iter_recorded().find(|step| {
            passed += step.count_since_last_iteration();
            passed >= place
        })?;
        let (shortest, longest) = (
            self.durations.lowest_equivalent(step.value_iterated_to()),
            self.durations.highest_equivalent(step.value_iterated_to()),
        );
        Some(Ends { shortest, longest: longest.min(self.longest) })
    }

    /// The longest duration in nanoseconds; `None` if nothing was counted.
    pub fn longest(&self) -> Option<u64> {
        (!self.durations.is_empty()).then_some(self.longest)
    }

    /// The mean in nanoseconds; `None` if nothing was counted.
    pub fn mean(&self) -> Option<u64> {
        let mean = self.sum.checked_div(self.len().into())?;
        // It is at most the longest, which is a u64.
        u64::try_from(mean).ok()
    }

    pub fn merge(&mut self, other: &Spread) {
        self.durations.add(&other.durations).expect("a histogram that grows takes any value");
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_has_no_figures() {
        let none = Spread::default();
        assert_eq!((none.percentile(50.0), none.at(1), none.longest(), none.mean()), (None, None, None, None));
    }

    proptest! {
        #[test]
        fn a_place_is_that_of_the_sorted_durations(mut durations in prop::collection::vec(0..i64::MAX, 1..200), place: prop::sample::Index) {
            let mut spread = Spread::default();
            durations.iter().for_each(|duration| spread.count(*duration));
            durations.sort_unstable();
            let place = place.index(durations.len());
            let (Ends { shortest, longest }, exact) = (spread.at(place as u64 + 1).unwrap(), durations[place] as u64);
            prop_assert!((shortest..=longest).contains(&exact), "{exact} {shortest} {longest}");
            prop_assert!(longest - shortest <= exact / 100, "{exact} {shortest} {longest}");
            prop_assert_eq!(spread.at(durations.len() as u64 + 1), None);
            prop_assert_eq!(spread.longest(), durations.last().map(|longest| *longest as u64));
            let sum: i128 = durations.iter().map(|duration| i128::from(*duration)).sum();
            prop_assert_eq!(spread.mean().map(i128::from), Some(sum / durations.len() as i128));
        }
    }
}
