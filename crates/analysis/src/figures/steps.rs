//! Durations by steps: 2^BITS to each power of two.

use std::collections::BTreeMap;

/// How many durations have each step. A step is at most 2^-BITS of its begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps<const BITS: u32>(BTreeMap<u64, u64>);

/// Durations that have one step, in nanoseconds: the shortest and the longest of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    pub shortest: u64,
    pub longest: u64,
}

impl<const BITS: u32> Steps<BITS> {
    /// Counts a duration in nanoseconds.
    pub fn count(&mut self, duration: u64) {
        self.add(step::<BITS>(duration), 1);
    }

    /// Adds a number of durations with this step.
    pub fn add(&mut self, step: u64, more: u64) {
        let count = self.0.entry(step).or_default();
        *count = count.saturating_add(more);
    }

    pub fn merge(&mut self, other: &Steps<BITS>) {
        other.0.iter().for_each(|(step, count)| self.add(*step, *count));
    }

    /// How many durations there are.
    #[expect(clippy::len_without_is_empty, reason = "readers print it")]
    pub fn len(&self) -> u64 {
        self.0.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The step at a place in the order of length; the shortest duration has place 1. `None` if there are fewer.
    pub fn at(&self, place: u128) -> Option<Ends> {
        let mut passed = 0;
        let (step, _) = self.0.iter().find(|(_, count)| {
            passed += u128::from(**count);
            passed >= place
        })?;
        let shortest = step.checked_sub(1).map_or(0, |before| longest::<BITS>(before).saturating_add(1));
        Some(Ends { shortest, longest: longest::<BITS>(*step) })
    }
}

/// From steps and their counts.
impl<const BITS: u32, const N: usize> From<[(u64, u64); N]> for Steps<BITS> {
    fn from(counts: [(u64, u64); N]) -> Self {
        Steps(counts.into())
    }
}

/// The step of a duration: its BITS binary digits after the first, after the steps of lower powers of two.
fn step<const BITS: u32>(duration: u64) -> u64 {
    let power = duration.checked_ilog2().unwrap_or(0);
    match power.checked_sub(BITS) {
        Some(shift) => (u64::from(shift) << BITS) + (duration >> shift),
        None => duration,
    }
}

/// The longest duration of a step.
fn longest<const BITS: u32>(step: u64) -> u64 {
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

    fn follow_each_other<const BITS: u32>() {
        for duration in (0..1 << 16).chain([u64::MAX - 1, u64::MAX]) {
            let mut steps = Steps::<BITS>::default();
            steps.count(duration);
            let Ends { shortest, longest } = steps.at(1).unwrap();
            assert!((shortest..=longest).contains(&duration) && longest - shortest <= duration >> BITS, "{duration}");
            assert_eq!(
                (step::<BITS>(shortest), step::<BITS>(longest)),
                (step::<BITS>(duration), step::<BITS>(duration))
            );
            if longest < u64::MAX {
                assert_eq!(step::<BITS>(longest + 1), step::<BITS>(duration) + 1);
            }
        }
        assert_eq!(longest::<BITS>(step::<BITS>(u64::MAX)), u64::MAX);
    }

    #[test]
    fn steps_follow_each_other() {
        follow_each_other::<3>();
        follow_each_other::<7>();
    }
}
