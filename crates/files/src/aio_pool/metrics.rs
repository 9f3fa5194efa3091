//! Counters of a pool, which need no tracer.

use std::time::Duration;

use super::counts;
use super::lane::Lane;

/// Counts of a pool at one instant.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Metrics {
    /// The fast lane.
    pub fast: LaneMetrics,
    /// The slow lane.
    pub slow: LaneMetrics,
    /// Jobs that wait for room because the queues are full.
    pub waiting: usize,
    /// Operations that ran, by driver and command, in the order of these names. The counts of a thread's batch of jobs are added when its
    /// next batch begins.
    pub commands: Vec<CommandMetrics>,
}

/// Sums over the operations of one command of a driver since the pool was made: those that I/O threads ran and whose job counts them
/// ([`Job::count`](super::Job::count)), and those of the file driver that were answered inline, which are no jobs. Operations that were
/// cancelled in the queue are not among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandMetrics {
    /// The driver: `efile_drv` for the file driver.
    pub driver: &'static str,
    /// The name of the command, such as `READ`.
    pub command: &'static str,
    /// How many operations ran.
    pub operations: u64,
    /// How many of them failed.
    pub errors: u64,
    /// How many bytes they moved.
    pub bytes: u64,
    /// The sum of the times that their jobs ran, zero for pools without threads, and that inline answers took.
    pub service: Duration,
}

/// Counts of one lane of a pool.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LaneMetrics {
    /// Jobs in its queues.
    pub queued: usize,
    /// Its threads.
    pub threads: usize,
    /// Threads without a job.
    pub idle: usize,
    /// Threads that were found blocked in a job while other jobs waited.
    pub blocked: usize,
    /// Jobs taken out of its queues since the pool was made, cancelled ones included.
    pub operations: u64,
    /// Times from submission until a thread took the job.
    pub wait: Histogram,
    /// Times that jobs ran.
    pub service: Histogram,
}

impl Metrics {
    pub(super) fn lane(&mut self, lane: Lane) -> &mut LaneMetrics {
        match lane {
            Lane::Fast => &mut self.fast,
            Lane::Slow => &mut self.slow,
        }
    }

    pub(super) fn sort(&mut self) {
        self.commands.sort_unstable_by_key(|sums| (sums.driver, sums.command));
    }

    /// Adds the counts of another pool.
    pub(super) fn add(&mut self, other: &Metrics) {
        self.waiting += other.waiting;
        for (lane, other) in [(&mut self.fast, &other.fast), (&mut self.slow, &other.slow)] {
            lane.queued += other.queued;
            lane.threads += other.threads;
            lane.idle += other.idle;
            lane.blocked += other.blocked;
        }
        self.add_counters(other);
    }

    /// Adds the sums of another pool, without its jobs and threads of now.
    pub(super) fn add_counters(&mut self, other: &Metrics) {
        other.commands.iter().for_each(|sums| _ = counts::add(&mut self.commands, sums));
        self.sort();
        for (lane, other) in [(&mut self.fast, &other.fast), (&mut self.slow, &other.slow)] {
            lane.operations += other.operations;
            lane.wait.add(&other.wait);
            lane.service.add(&other.service);
        }
    }
}

/// Counts durations in buckets that grow by powers of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    buckets: [u64; Histogram::BUCKETS],
    /// In nanoseconds.
    sum: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { buckets: [0; Histogram::BUCKETS], sum: 0 }
    }
}

impl Histogram {
    /// The last bucket begins at 2^38 ns, about 4.5 minutes.
    const BUCKETS: usize = 40;

    #[inline]
    pub(super) fn record(&mut self, duration: Duration) {
        let seconds = duration.as_secs().saturating_mul(1_000_000_000);
        let nanoseconds = seconds.saturating_add(duration.subsec_nanos().into());
        let bucket = (u64::BITS - nanoseconds.leading_zeros()) as usize;
        self.buckets[bucket.min(Histogram::BUCKETS - 1)] += 1;
        self.sum = self.sum.saturating_add(nanoseconds);
    }

    fn add(&mut self, other: &Histogram) {
        self.buckets.iter_mut().zip(other.buckets).for_each(|(bucket, count)| *bucket += count);
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// Returns how many durations were counted.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// Returns the sum of the durations.
    pub fn sum(&self) -> Duration {
        Duration::from_nanos(self.sum)
    }

    /// Returns the upper bound and the count of each bucket that is not empty.
    ///
    /// The bound is exclusive. The last possible bucket, for durations of 2^38 ns (about 4.5 minutes) and more, has the bound
    /// [`Duration::MAX`].
    pub fn buckets(&self) -> impl Iterator<Item = (Duration, u64)> + '_ {
        let counts = self.buckets.iter().enumerate().filter(|(_, count)| **count > 0);
        counts.map(|(bucket, &count)| (Histogram::bound(bucket), count))
    }

    fn bound(bucket: usize) -> Duration {
        if bucket == Histogram::BUCKETS - 1 { Duration::MAX } else { Duration::from_nanos(1 << bucket) }
    }

    /// Returns a bound below which `part` of all durations lie, with `part` from 0.0 to 1.0: the upper bound of the bucket that holds
    /// this quantile. Returns `None` if nothing was counted.
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
    fn jobs_and_threads_of_a_pool_that_ended_are_not_kept() {
        let mut lane =
            LaneMetrics { queued: 1, threads: 2, idle: 3, blocked: 4, operations: 5, ..LaneMetrics::default() };
        lane.service.record(Duration::from_nanos(1));
        let pool = Metrics { slow: lane, waiting: 6, ..Metrics::default() };
        let (mut living, mut ended) = (Metrics::default(), Metrics::default());
        living.add(&pool);
        ended.add_counters(&pool);
        let now = |all: &Metrics| [all.waiting, all.slow.queued, all.slow.threads, all.slow.idle, all.slow.blocked];
        assert_eq!((now(&living), now(&ended)), ([6, 1, 2, 3, 4], [0; 5]));
        for all in [living, ended] {
            assert_eq!((all.slow.operations, all.slow.service.count()), (5, 1));
        }
    }

    #[test]
    fn quantiles_are_the_bounds_of_buckets() {
        let mut histogram = Histogram::default();
        assert_eq!((histogram.count(), histogram.quantile(0.5)), (0, None));
        (0..90).for_each(|_| histogram.record(Duration::from_nanos(1000)));
        (0..9).for_each(|_| histogram.record(Duration::from_micros(100)));
        assert_eq!(histogram.sum(), Duration::from_micros(90 + 900));
        histogram.record(Duration::MAX);
        assert_eq!((histogram.count(), histogram.sum()), (100, Duration::from_nanos(u64::MAX)));
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
