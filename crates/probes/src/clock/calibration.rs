//! Frequency and origin of the clock, measured against the kernel's clocks.

use std::time::Duration;

use rustix::time::ClockId;

use super::{COUNTER, choose, nanoseconds, now};

const SECOND: i128 = 1_000_000_000;
/// The duration of the first measurement: long enough for an error of about 20 ppm, short enough for a program's start.
const FIRST_MEASURE: Duration = Duration::from_millis(2);
/// After this time of measurement, in nanoseconds, a frequency is well known.
const WELL_KNOWN: i128 = SECOND;
/// A measurement that differs from a well-known frequency by more than 1/5000 is dropped: the machine was suspended, and one clock stood
/// still.
const BELIEVED_CHANGE: u64 = 5_000;

/// The clocks, read at one instant.
#[derive(Clone, Copy, Debug)]
struct Instant {
    cycles: u64,
    monotonic: i128,
    realtime: i128,
}

impl Instant {
    /// The best of several tries: the one with the least time between its first and last reading.
    fn now() -> Self {
        const TRIES: usize = 16;
        let one = || {
            let before = now();
            let monotonic = nanoseconds(ClockId::Monotonic);
            let realtime = nanoseconds(ClockId::Realtime);
            let width = now().saturating_sub(before);
            (width, Self { cycles: before + width / 2, monotonic, realtime })
        };
        (1..TRIES).map(|_| one()).fold(one(), |best, other| if other.0 < best.0 { other } else { best }).1
    }
}

/// Converts cycles to time: cycle `c` was at `offset_seconds + (offset_cycles + c) / frequency` seconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct Calibration {
    /// Cycles per second.
    pub frequency: u64,
    /// Whole seconds from 1970 to cycle 0.
    pub offset_seconds: i64,
    /// The remainder, in cycles; less than `frequency`.
    pub offset_cycles: u64,
    start: Instant,
    /// The length of the last measurement, in nanoseconds.
    measured: i128,
    /// The same, in cycles.
    measured_cycles: u64,
}

impl Calibration {
    /// Chooses the clock, if that was not done. The frequency is unknown before [`refine`](Calibration::refine).
    pub fn begin() -> Self {
        choose();
        Self {
            frequency: SECOND as u64,
            offset_seconds: 0,
            offset_cycles: 0,
            start: Instant::now(),
            measured: 0,
            measured_cycles: 0,
        }
    }

    /// Like [`begin`](Calibration::begin), and measures the frequency, for 2 ms if the clock is a counter.
    pub fn start() -> Self {
        let mut calibration = Self::begin();
        if choose() == COUNTER {
            std::thread::sleep(FIRST_MEASURE);
            calibration.refine();
        } else {
            calibration.set_origin();
        }
        calibration
    }

    /// Returns whether a measurement now would be longer than the last one by an eighth. The error of a measurement is that of reading the
    /// clocks at its ends, divided by its length.
    pub fn can_improve(&self) -> bool {
        now().saturating_sub(self.start.cycles) >= self.measured_cycles.saturating_add(self.measured_cycles / 8)
    }

    /// Measures the frequency again, over the whole time since the start. The time of the start does not change.
    pub fn refine(&mut self) {
        if choose() != COUNTER {
            return;
        }
        let end = Instant::now();
        let (cycles, time) = (end.cycles.saturating_sub(self.start.cycles), end.monotonic - self.start.monotonic);
        if cycles == 0 || time <= self.measured {
            return;
        }
        let frequency = ((i128::from(cycles) * SECOND + time / 2) / time) as u64;
        if self.measured >= WELL_KNOWN && frequency.abs_diff(self.frequency) > self.frequency / BELIEVED_CHANGE {
            return;
        }
        (self.frequency, self.measured, self.measured_cycles) = (frequency, time, cycles);
        self.set_origin();
    }

    /// Converts cycles to a duration.
    pub fn duration(&self, cycles: u64) -> Duration {
        Duration::from_nanos_u128(u128::from(cycles) * SECOND as u128 / u128::from(self.frequency))
    }

    /// Converts a duration to cycles.
    pub fn cycles(&self, time: Duration) -> u64 {
        let cycles = time.as_nanos().saturating_mul(self.frequency.into()) / SECOND as u128;
        cycles.try_into().unwrap_or(u64::MAX)
    }

    /// Computes the time of cycle 0 from the time of the start.
    fn set_origin(&mut self) {
        let frequency = i128::from(self.frequency);
        let origin = self.start.realtime * frequency / SECOND - i128::from(self.start.cycles);
        self.offset_seconds = origin.div_euclid(frequency) as i64;
        self.offset_cycles = origin.rem_euclid(frequency) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time since 1970 of a cycle, in nanoseconds, as readers make it.
    fn realtime(calibration: &Calibration, cycles: u64) -> i128 {
        i128::from(calibration.offset_seconds) * SECOND
            + (i128::from(calibration.offset_cycles) + i128::from(cycles)) * SECOND / i128::from(calibration.frequency)
    }

    #[test]
    fn never_goes_back_in_a_thread() {
        Calibration::start();
        let mut last = now();
        for _ in 0..1_000_000 {
            let next = now();
            assert!(next >= last);
            last = next;
        }
    }

    #[test]
    fn the_start_keeps_its_time() {
        let mut calibration = Calibration::start();
        let start = calibration.start;
        for _ in 0..3 {
            let one_cycle = SECOND / i128::from(calibration.frequency) + 1;
            assert!((realtime(&calibration, start.cycles) - start.realtime).abs() <= one_cycle);
            assert!(calibration.offset_cycles < calibration.frequency);
            calibration.refine();
        }
    }

    #[test]
    fn a_measurement_that_is_not_longer_is_no_improvement() {
        let mut calibration = Calibration::start();
        let elapsed = now() - calibration.start.cycles;
        for (measured, expected) in [(0, true), (elapsed / 2, true), (elapsed * 100_000, false), (u64::MAX, false)] {
            calibration.measured_cycles = measured;
            assert_eq!(calibration.can_improve(), expected, "{measured} of {elapsed} cycles");
        }
    }

    #[test]
    fn a_suspension_is_not_believed() {
        let mut calibration = Calibration::start();
        let known = calibration.frequency;
        calibration.measured = WELL_KNOWN;
        // As if the kernel's clock had stood still for most of two seconds.
        calibration.start.monotonic -= 2 * SECOND;
        calibration.refine();
        assert_eq!(calibration.frequency, known);
    }

    /// Prints the error; asserts only bounds that hold under any scheduling.
    #[test]
    fn the_frequency_after_a_second_is_right() {
        let mut calibration = Calibration::start();
        let first = calibration.frequency;
        std::thread::sleep(Duration::from_secs(1));
        calibration.refine();
        let after_a_second = calibration.frequency;
        std::thread::sleep(Duration::from_secs(1));
        calibration.refine();
        let parts =
            |frequency: u64| frequency.abs_diff(calibration.frequency) as f64 * 1e6 / calibration.frequency as f64;
        println!(
            "{}: {} Hz; off by {:.2} ppm at the start, {:.2} after a second",
            crate::clock::name(),
            calibration.frequency,
            parts(first),
            parts(after_a_second)
        );
        assert!(parts(after_a_second) < 200.0);
    }
}
