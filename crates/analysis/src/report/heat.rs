//! Latency over time, as numbers of operations.

use super::timeline::Bucket;

/// Steps of latency.
pub const ROWS: usize = 35;
pub const ROWS_OF_A_DECADE: usize = 5;
/// Nanoseconds; faster operations count in the first step.
const FASTEST: f64 = 1_000.0;

/// The operations that were entered within a bucket of time, by latency.
pub struct Latencies(pub [u64; ROWS]);

impl Default for Latencies {
    fn default() -> Self {
        Latencies([0; ROWS])
    }
}

impl Latencies {
    pub fn count(&mut self, nanoseconds: i64) {
        let decades = (nanoseconds as f64 / FASTEST).max(1.0).log10();
        let row = (decades * ROWS_OF_A_DECADE as f64) as usize;
        self.0[row.min(ROWS - 1)] += 1;
    }
}

impl Bucket for Latencies {
    fn merge(&mut self, next: Self) {
        self.0.iter_mut().zip(next.0).for_each(|(count, more)| *count += more);
    }
}

/// The least latency of a row, in nanoseconds. That of `ROWS` ends the last row.
pub fn floor(row: usize) -> i64 {
    (FASTEST * 10f64.powf(row as f64 / ROWS_OF_A_DECADE as f64)).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_latency_has_its_row() {
        let row = |nanoseconds| {
            let mut latencies = Latencies::default();
            latencies.count(nanoseconds);
            latencies.0.iter().position(|&count| count == 1).unwrap()
        };
        assert_eq!(row(i64::MIN), 0);
        assert_eq!(row(1_000), 0);
        assert_eq!(row(10_000), 5);
        assert_eq!(row(1_000_000), 15);
        assert_eq!(row(i64::MAX), ROWS - 1);
        for index in 0..ROWS {
            assert_eq!(row(floor(index) + 1), index);
        }
    }
}
