//! Durations: their number, their sum, and a histogram, in the columns that all scripts have.

/// The titles of the histogram's columns.
pub const TITLES: &str = "  <1us   <4us  <16us  <64us <256us   <1ms   <4ms  <16ms  <64ms <256ms    <1s   more";

/// The ends of the histogram's columns, in nanoseconds; the last column has none.
const ENDS: [i64; 11] =
    [1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000, 4_000_000, 16_000_000, 64_000_000, 256_000_000, 1_000_000_000];

#[derive(Default)]
pub struct Times {
    pub count: i64,
    sum_us: i64,
    /// The sum in nanoseconds: many durations take less than a microsecond.
    pub sum: i64,
    pub max_us: i64,
    histogram: [u64; ENDS.len() + 1],
}

impl Times {
    /// Counts a duration in nanoseconds.
    pub fn add(&mut self, took: i64) {
        self.count += 1;
        self.sum_us += took / 1000;
        self.sum = self.sum.saturating_add(took);
        self.max_us = self.max_us.max(took / 1000);
        self.histogram[ENDS.partition_point(|end| *end <= took)] += 1;
    }

    /// The mean in microseconds; 0 if there are none.
    pub fn mean_us(&self) -> i64 {
        self.sum_us.checked_div(self.count).unwrap_or(0)
    }

    /// The sum, the number, the mean and the longest, in microseconds.
    pub fn sums(&self) -> String {
        let mean = self.sum.checked_div(self.count).unwrap_or(0);
        format!("{:>10} {:>8} {:>9} {:>9}", self.sum / 1000, self.count, mean / 1000, self.max_us)
    }

    pub fn columns(&self) -> String {
        self.histogram.map(|count| format!(" {count:>6}")).concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_ends_before_its_title() {
        let mut times = Times::default();
        for took in [0, 999, 1_000, 3_999, 256_000, 999_999_999, 1_000_000_000, i64::MAX / 2] {
            times.add(took);
        }
        assert_eq!(times.histogram, [2, 2, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2]);
        assert_eq!(times.columns().len(), TITLES.len() + 1);
    }
}
