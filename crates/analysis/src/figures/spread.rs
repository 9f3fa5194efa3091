//! Distributions of durations.

use super::steps::{Ends, Steps};

/// Up to this number, durations are stored as they are.
const FEW: usize = 256;

/// The distribution of durations. A few are exact, many are within one percent. Their sum and the longest are exact.
#[derive(Clone)]
pub struct Spread {
    durations: Durations,
    sum: u128,
    longest: u64,
}

#[derive(Clone)]
enum Durations {
    /// Sorted.
    Few(Vec<u64>),
    Many(Steps<7>),
}

impl Default for Spread {
    fn default() -> Self {
        Spread { durations: Durations::Few(Vec::new()), sum: 0, longest: 0 }
    }
}

impl Spread {
    /// Counts a duration in nanoseconds. A negative one, between clocks that disagree, counts as zero.
    pub fn count(&mut self, nanoseconds: i64) {
        let duration = nanoseconds.max(0) as u64;
        self.sum += u128::from(duration);
        self.longest = self.longest.max(duration);
        match &mut self.durations {
            Durations::Few(few) if few.len() < FEW => {
                few.insert(few.partition_point(|other| *other < duration), duration)
            }
            durations => durations.steps().count(duration),
        }
    }

    /// The sum of the durations, in nanoseconds.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// How many durations were counted.
    #[expect(clippy::len_without_is_empty, reason = "readers print it")]
    pub fn len(&self) -> u64 {
        match &self.durations {
            Durations::Few(few) => few.len() as u64,
            Durations::Many(many) => many.len(),
        }
    }

    /// The duration in nanoseconds that a `part` of all do not exceed; `None` if nothing was counted.
    pub fn percentile(&self, part: f64) -> Option<u64> {
        self.at(self.place(part)).map(|ends| ends.longest)
    }

    /// The place of that duration. The part is not in percent: dividing by 100 would put 99.9 a place too high at 1000.
    pub fn place(&self, part: f64) -> u64 {
        ((part * self.len() as f64).ceil() as u64).max(1)
    }

    /// The duration at a place in the order of length; the shortest has place 1. `None` if there are fewer.
    pub fn at(&self, place: u64) -> Option<Ends> {
        match &self.durations {
            Durations::Few(few) => {
                let exact = *few.get(usize::try_from(place).ok()?.checked_sub(1)?)?;
                Some(Ends { shortest: exact, longest: exact })
            }
            Durations::Many(many) => {
                let Ends { shortest, longest } = many.at(place.into())?;
                Some(Ends { shortest, longest: longest.min(self.longest) })
            }
        }
    }

    /// The longest duration in nanoseconds; `None` if nothing was counted.
    pub fn longest(&self) -> Option<u64> {
        (self.len() > 0).then_some(self.longest)
    }

    /// The mean in nanoseconds; `None` if nothing was counted.
    pub fn mean(&self) -> Option<u64> {
        let mean = self.sum.checked_div(self.len().into())?;
        // It is at most the longest, which is a u64.
        u64::try_from(mean).ok()
    }

    pub fn merge(&mut self, other: &Spread) {
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
        let many = self.durations.steps();
        match &other.durations {
            Durations::Few(few) => few.iter().for_each(|duration| many.count(*duration)),
            Durations::Many(other) => many.merge(other),
        }
    }
}

impl Durations {
    /// Makes many of few.
    fn steps(&mut self) -> &mut Steps<7> {
        if let Durations::Few(few) = self {
            let mut many = Steps::default();
            few.iter().for_each(|duration| many.count(*duration));
            *self = Durations::Many(many);
        }
        match self {
            Durations::Many(many) => many,
            Durations::Few(_) => unreachable!("it was replaced"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_has_no_figures() {
        let none = Spread::default();
        assert_eq!((none.percentile(0.5), none.at(1), none.longest(), none.mean()), (None, None, None, None));
    }

    #[test]
    fn a_percentile_is_the_least_duration_that_so_many_do_not_exceed() {
        let mut spread = Spread::default();
        (1..=1000).for_each(|duration| spread.count(duration));
        let places = [0.5, 0.9, 0.99, 0.999, 1.0].map(|part| spread.place(part));
        assert_eq!(places, [500, 900, 990, 999, 1000]);
        let mut one = Spread::default();
        one.count(7);
        assert_eq!([0.0, 0.5, 0.999].map(|part| one.percentile(part)), [Some(7); 3]);
    }

    proptest! {
        #[test]
        fn a_place_is_that_of_the_sorted_durations(mut durations in prop::collection::vec(0..i64::MAX, 1..600), place: prop::sample::Index) {
            let mut spread = Spread::default();
            durations.iter().for_each(|duration| spread.count(*duration));
            durations.sort_unstable();
            let place = place.index(durations.len());
            let (Ends { shortest, longest }, exact) = (spread.at(place as u64 + 1).unwrap(), durations[place] as u64);
            prop_assert!((shortest..=longest).contains(&exact), "{exact} {shortest} {longest}");
            prop_assert!(longest - shortest <= exact / 100, "{exact} {shortest} {longest}");
            prop_assert_eq!(spread.at(durations.len() as u64 + 1), None);
            prop_assert_eq!(spread.longest(), durations.last().map(|longest| *longest as u64));
            let (mut both, mut other) = (Spread::default(), Spread::default());
            durations.iter().enumerate().for_each(|(at, duration)| if at % 3 == 0 { &mut both } else { &mut other }.count(*duration));
            both.merge(&other);
            prop_assert_eq!((both.len(), both.mean(), both.longest()), (spread.len(), spread.mean(), spread.longest()));
            let Ends { shortest, longest } = both.at(place as u64 + 1).unwrap();
            prop_assert!((shortest..=longest).contains(&exact), "{exact} {shortest} {longest}");
            let sum: i128 = durations.iter().map(|duration| i128::from(*duration)).sum();
            prop_assert_eq!(spread.mean().map(i128::from), Some(sum / durations.len() as i128));
        }
    }
}
