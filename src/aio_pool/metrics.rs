//! What a pool knows of itself without a tracer.

use std::time::Duration;

use super::lane::Lane;

/// A pool at one instant.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Metrics {
    /// The fast lane.
    pub fast: LaneMetrics,
    /// The slow lane.
    pub slow: LaneMetrics,
    /// Works in the line at the door: the queues are full.
    pub in_line: usize,
}

/// One lane of a pool.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LaneMetrics {
    /// Works in its queues.
    pub queued: usize,
    /// Its threads.
    pub threads: usize,
    /// Those of them that have nothing to do.
    pub idle: usize,
    /// Those of them that were found asleep in a work while others waited.
    pub stuck: usize,
    /// Works that were taken out of its queues since the pool was made, those that were cancelled there among them.
    pub operations: u64,
    /// How long works stood in line and queue.
    pub wait: Histogram,
    /// How long they took.
    pub service: Histogram,
}

impl Metrics {
    pub(super) fn lane(&mut self, lane: Lane) -> &mut LaneMetrics {
        match lane {
            Lane::Fast => &mut self.fast,
            Lane::Slow => &mut self.slow,
        }
    }

    /// Adds what another pool has done.
    pub(super) fn add(&mut self, other: &Metrics) {
        self.in_line += other.in_line;
        for (lane, other) in [(&mut self.fast, &other.fast), (&mut self.slow, &other.slow)] {
            lane.queued += other.queued;
            lane.threads += other.threads;
            lane.idle += other.idle;
            lane.stuck += other.stuck;
            lane.operations += other.operations;
            lane.wait.add(&other.wait);
            lane.service.add(&other.service);
        }
    }
}

/// Durations, counted in buckets that grow by powers of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    buckets: [u64; Histogram::BUCKETS],
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { buckets: [0; Histogram::BUCKETS] }
    }
}

impl Histogram {
    /// The last bucket begins at 2^38 ns, about four and a half minutes.
    const BUCKETS: usize = 40;

    #[inline]
    pub(super) fn record(&mut self, duration: Duration) {
        let seconds = duration.as_secs().saturating_mul(1_000_000_000);
        let nanoseconds = seconds.saturating_add(duration.subsec_nanos().into());
        let bucket = (u64::BITS - nanoseconds.leading_zeros()) as usize;
        self.buckets[bucket.min(Histogram::BUCKETS - 1)] += 1;
    }

    fn add(&mut self, other: &Histogram) {
        self.buckets.iter_mut().zip(other.buckets).for_each(|(bucket, count)| *bucket += count);
    }

    /// How many durations were counted.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The buckets that are not empty: what their durations are shorter than, and how many there are. The last one that there can
    /// be, from four and a half minutes, has no bound and gives [`Duration::MAX`].
    pub fn buckets(&self) -> impl Iterator<Item = (Duration, u64)> + '_ {
        let counts = self.buckets.iter().enumerate().filter(|(_, count)| **count > 0);
        counts.map(|(bucket, &count)| (Histogram::bound(bucket), count))
    }

    fn bound(bucket: usize) -> Duration {
        if bucket == Histogram::BUCKETS - 1 { Duration::MAX } else { Duration::from_nanos(1 << bucket) }
    }

    /// What the given part of all durations, from 0.0 to 1.0, are shorter than: the bound of the bucket where it is reached. `None`
    /// when nothing was counted.
    ///
    /// ```
    /// # async fn example() -> std::io::Result<()> {
    /// dyntrace::fs::read("Cargo.toml").await?;
    /// let metrics = dyntrace::aio_pool::metrics();
    /// println!("99 % waited for less than {:?}", metrics.fast.wait.quantile(0.99));
    /// # Ok(()) }
    /// ```
    pub fn quantile(&self, part: f64) -> Option<Duration> {
        let total = self.count();
        let wanted = ((total as f64 * part).ceil() as u64).clamp(1, total.max(1));
        let mut seen = 0;
        let reached = |&(_, &count): &(usize, &u64)| {
            seen += count;
            seen >= wanted
        };
        self.buckets.iter().enumerate().find(reached).map(|(bucket, _)| Histogram::bound(bucket))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_the_bounds_of_buckets() {
        let mut histogram = Histogram::default();
        assert_eq!((histogram.count(), histogram.quantile(0.5)), (0, None));
        (0..90).for_each(|_| histogram.record(Duration::from_nanos(1000)));
        (0..9).for_each(|_| histogram.record(Duration::from_micros(100)));
        histogram.record(Duration::MAX);
        assert_eq!(histogram.count(), 100);
        assert_eq!(histogram.quantile(0.0), Some(Duration::from_nanos(1024)));
        assert_eq!(histogram.quantile(0.9), Some(Duration::from_nanos(1024)));
        assert_eq!(histogram.quantile(0.91), Some(Duration::from_nanos(1 << 17)));
        assert_eq!(histogram.quantile(1.0), Some(Duration::MAX));
        let buckets: Vec<_> = histogram.buckets().collect();
        assert_eq!(buckets.len(), 3);
        assert_eq!(buckets[1], (Duration::from_nanos(1 << 17), 9));
    }

    #[test]
    fn nothing_is_too_short() {
        let mut histogram = Histogram::default();
        histogram.record(Duration::ZERO);
        assert_eq!(histogram.quantile(0.5), Some(Duration::from_nanos(1)));
    }
}
