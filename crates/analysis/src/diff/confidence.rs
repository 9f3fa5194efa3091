//! Confidence intervals.
//!
//! Of a percentile, by the order statistics: how many of `n` independent durations are below the percentile has a binomial distribution,
//! whatever the distribution of durations is. So two of the sorted durations enclose the percentile with a known probability (Hahn and
//! Meeker, Statistical Intervals, Wiley 1991, section 5.2). Of a share, by the score (Wilson, Journal of the American Statistical
//! Association 22, 1927).

use crate::figures::Spread;

/// The probability on each side that the value is outside of its interval: together 5 %.
const OUTSIDE: f64 = 0.025;
/// The standard normal distribution exceeds it with the probability `OUTSIDE`.
const DEVIATIONS: f64 = 1.959_963_985;

/// An estimated value and the interval that contains the true one with a probability of at least 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    /// `None` if there are too few durations.
    pub low: Option<f64>,
    /// `None` if there are too few durations.
    pub high: Option<f64>,
}

impl Estimate {
    /// The lower end; 0 if it is unknown, as no figure is negative.
    pub fn least(&self) -> f64 {
        self.low.unwrap_or(0.0)
    }

    pub fn most(&self) -> f64 {
        self.high.unwrap_or(f64::INFINITY)
    }
}

/// The duration, in nanoseconds, that a `part` of all do not exceed. `None` if nothing was counted.
pub fn percentile(spread: &Spread, part: f64) -> Option<Estimate> {
    let count = spread.len();
    let value = spread.percentile(part)? as f64;
    let (low, high) = places(count, part);
    let low = low.and_then(|place| spread.at(place)).map(|ends| ends.shortest as f64);
    let high = high.and_then(|place| spread.at(place)).map(|ends| ends.longest as f64);
    Some(Estimate { value, low, high })
}

/// The places, from 1, of the sorted durations that enclose the percentile.
fn places(count: u64, part: f64) -> (Option<u64>, Option<u64>) {
    let [low, high] = reached(count, part, [OUTSIDE, 1.0 - OUTSIDE]);
    (Some(low).filter(|place| *place > 0), Some(high + 1).filter(|place| *place <= count))
}

/// A probability of this part of the highest one is left out of sums.
const NEGLIGIBLE: f64 = 1e-20;

/// For each probability, which ascend, the least number of successes in `count` trials that is not exceeded with it. `part` is the
/// probability of a success, between 0 and 1.
///
/// The distribution is summed up from the negligible numbers below its mode. That takes some ten standard deviations of steps.
fn reached<const N: usize>(count: u64, part: f64, probabilities: [f64; N]) -> [u64; N] {
    // How much more probable the next number is.
    let next = |number: u64| (count - number) as f64 / (number + 1) as f64 * part / (1.0 - part);
    let mode = (count as f64 * part) as u64;
    // Probabilities are relative to that of the mode.
    let (mut number, mut probability, mut sum) = (mode, 1.0, 1.0);
    while number > 0 && probability > NEGLIGIBLE {
        number -= 1;
        probability /= next(number);
        sum += probability;
    }
    let lowest = (number, probability);
    (number, probability) = (mode, 1.0);
    while number < count && probability > NEGLIGIBLE {
        probability *= next(number);
        number += 1;
        sum += probability;
    }
    let highest = number;
    (number, probability) = lowest;
    let mut passed = probability;
    probabilities.map(|wanted| {
        while number < highest && passed < wanted * sum {
            probability *= next(number);
            number += 1;
            passed += probability;
        }
        number
    })
}

/// The share of `some` among `all`. `None` if there are none.
pub fn share(some: u64, all: u64) -> Option<Estimate> {
    if all == 0 {
        return None;
    }
    let (some, all) = (some.min(all) as f64, all as f64);
    let (share, square) = (some / all, DEVIATIONS * DEVIATIONS);
    let centre = share + square / (2.0 * all);
    let reach = DEVIATIONS * (share * (1.0 - share) / all + square / (4.0 * all * all)).sqrt();
    let end = |value: f64| Some((value / (1.0 + square / all)).clamp(0.0, 1.0));
    let low = if some == 0.0 { Some(0.0) } else { end(centre - reach) };
    let high = if some == all { Some(1.0) } else { end(centre + reach) };
    Some(Estimate { value: share, low, high })
}

/// How far `b` is from `a`, as the logarithm of the ratio of the nearer ends of their intervals, which is positive if `b` is higher.
/// `smallest` is a value below which a difference is none. `None` if the intervals overlap.
pub fn apart(a: &Estimate, b: &Estimate, smallest: f64) -> Option<f64> {
    let ratio = |high: f64, low: f64| ((high + smallest) / (low + smallest)).ln();
    if b.least() > a.most() {
        Some(ratio(b.least(), a.most()))
    } else if a.least() > b.most() {
        Some(-ratio(a.least(), b.most()))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn places_of_the_tables() {
        // Of medians, as tables of the sign test have them.
        assert_eq!(places(5, 0.5), (None, None));
        assert_eq!(places(6, 0.5), (Some(1), Some(6)));
        assert_eq!(places(10, 0.5), (Some(2), Some(9)));
        assert_eq!(places(20, 0.5), (Some(6), Some(15)));
        assert_eq!(places(100, 0.5), (Some(40), Some(61)));
        // The longest of 368 durations is above the 99th percentile: 0.99^368 is less than 0.025.
        assert_eq!((places(367, 0.99).1, places(368, 0.99).1), (None, Some(368)));
        assert_eq!(places(0, 0.5), (None, None));
    }

    #[test]
    fn many_durations_have_the_places_of_the_normal_distribution() {
        let count = 1_000_000_000;
        for part in [0.5, 0.999] {
            let (low, high) = places(count, part);
            let (mean, reach) = (count as f64 * part, DEVIATIONS * (count as f64 * part * (1.0 - part)).sqrt());
            assert!((low.unwrap() as f64 - (mean - reach)).abs() < 3.0, "{low:?} {mean} {reach}");
            assert!((high.unwrap() as f64 - (mean + reach)).abs() < 3.0, "{high:?} {mean} {reach}");
        }
    }

    /// The binomial distribution, summed up from its nearer end.
    fn at_most(most: u64, count: u64, part: f64) -> f64 {
        if part > 0.5 && most < count {
            return 1.0 - at_most(count - most - 1, count, 1.0 - part);
        }
        let mut term = (1.0 - part).powi(count as i32);
        let mut sum = term;
        for number in 0..most {
            term *= (count - number) as f64 / (number + 1) as f64 * part / (1.0 - part);
            sum += term;
        }
        sum
    }

    #[test]
    fn shares_of_the_tables() {
        let near = |end: Option<f64>, expected: f64| (end.unwrap() - expected).abs() < 0.0005;
        let Estimate { value, low, high } = share(15, 148).unwrap();
        assert!((value - 0.1014).abs() < 0.0005 && near(low, 0.0624) && near(high, 0.1605), "{low:?} {high:?}");
        assert_eq!(share(0, 0), None);
        assert_eq!((share(0, 9).unwrap().low, share(9, 9).unwrap().high), (Some(0.0), Some(1.0)));
    }

    proptest! {
        #[test]
        fn the_interval_has_the_percentile_with_the_probability(count in 1_u64..700, part in prop::sample::select(vec![0.5, 0.9, 0.99, 0.999])) {
            let (low, high) = places(count, part);
            let below = low.map_or(0.0, |place| at_most(place - 1, count, part));
            let above = high.map_or(0.0, |place| 1.0 - at_most(place - 1, count, part));
            prop_assert!(below <= OUTSIDE + 1e-9 && above <= OUTSIDE + 1e-9, "{below} {above}");
            // The next place inwards would not do.
            let nearer = at_most(low.unwrap_or(0), count, part);
            prop_assert!(nearer > OUTSIDE - 1e-9, "{nearer}");
        }

        #[test]
        fn the_estimate_is_within_its_interval(durations in prop::collection::vec(0_i64..1_000_000_000, 1..2_000), part in 0.01_f64..0.9999) {
            let mut spread = Spread::default();
            durations.iter().for_each(|duration| spread.count(*duration));
            let estimate = percentile(&spread, part).unwrap();
            prop_assert!(estimate.least() <= estimate.value && estimate.value <= estimate.most(), "{estimate:?}");
            prop_assert_eq!(apart(&estimate, &estimate, 1.0), None);
        }
    }
}
