//! Conversion of a recorder's clock to the time of day.

const NANOSECONDS: u64 = 1_000_000_000;

/// The clock of a process's recorder.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Clock {
    /// Its name: `tsc` or `monotonic`.
    pub name: String,
    /// Cycles per second.
    pub frequency: u64,
    /// The time of day of cycle 0: whole seconds since 1970.
    pub offset_seconds: i64,
    /// The rest of that time, in cycles.
    pub offset_cycles: u64,
    /// Whole nanoseconds per cycle.
    whole: u64,
    /// The fraction of a nanosecond, in units of 2^-64.
    fraction: u64,
}

impl Clock {
    /// Returns a clock of `frequency` cycles per second; `None` if that is 0. The other arguments are those of the fields.
    pub fn new(name: String, frequency: u64, offset_seconds: i64, offset_cycles: u64) -> Option<Self> {
        let whole = NANOSECONDS.checked_div(frequency)?;
        // The quotient fits, as the remainder is smaller than the frequency.
        let fraction = ((u128::from(NANOSECONDS % frequency) << 64) / u128::from(frequency)) as u64;
        Some(Self { name, frequency, offset_seconds, offset_cycles, whole, fraction })
    }

    /// Returns its description for metadata.
    pub(crate) fn describe(&self) -> dyntrace_metadata::Clock<'_> {
        let Clock { name, frequency, offset_seconds, offset_cycles, .. } = self;
        let (frequency, offset_seconds, offset_cycles) = (*frequency, *offset_seconds, *offset_cycles);
        dyntrace_metadata::Clock { name, frequency, offset_seconds, offset_cycles }
    }

    /// Converts `cycles` to nanoseconds since 1970, rounded down, and at most one too small.
    ///
    /// It does not divide, as it runs for each event. An overflow, as in damaged files, wraps.
    ///
    /// ```
    /// let trace = dyntrace_reader::Trace::open("tests/golden")?;
    /// let clock = &trace.processes()[0].clock;
    /// assert_eq!(clock.time(clock.frequency) - clock.time(0), 1_000_000_000);
    /// # Ok::<(), dyntrace_reader::Error>(())
    /// ```
    #[inline]
    pub fn time(&self, cycles: u64) -> i64 {
        let cycles = self.offset_cycles.wrapping_add(cycles);
        let fraction = ((u128::from(cycles) * u128::from(self.fraction)) >> 64) as u64;
        let nanoseconds = cycles.wrapping_mul(self.whole).wrapping_add(fraction);
        self.offset_seconds.wrapping_mul(NANOSECONDS as i64).wrapping_add(nanoseconds as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn within_one_nanosecond_of_the_division(frequency in 1u64.., cycles in any::<u64>(), offset in 0..u64::MAX / 2) {
            let clock = Clock::new(String::new(), frequency, 0, offset).expect("a frequency");
            let cycles = cycles / 2;
            let exact = u128::from(cycles + offset) * u128::from(NANOSECONDS) / u128::from(frequency);
            prop_assume!(exact <= i64::MAX as u128);
            let time = clock.time(cycles) as u128;
            prop_assert!(time == exact || time + 1 == exact, "{time} {exact}");
        }

        #[test]
        fn a_clock_of_nanoseconds_is_exact(cycles in 0..i64::MAX as u64) {
            prop_assert_eq!(Clock::new(String::new(), NANOSECONDS, 0, 0).expect("a frequency").time(cycles), cycles as i64);
        }
    }

    #[test]
    fn extremes_wrap() {
        let clock = Clock::new(String::new(), 1, i64::MIN, u64::MAX).expect("a frequency");
        clock.time(u64::MAX);
        assert!(Clock::new(String::new(), 0, 0, 0).is_none());
    }
}
