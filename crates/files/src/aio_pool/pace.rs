//! How fast a lane runs its jobs. Decides whether waking another thread pays.

use std::time::Duration;

use super::clock::Time;
use super::directories::Changes;

/// The time from waking a thread until it runs its first job. 0 under loom, so that its models see every wake-up.
pub(super) const WAKE_UP: Duration = Duration::from_micros(if cfg!(loom) { 0 } else { 20 });

/// How long a worker runs jobs before it wakes their tasks, while further ones wait that only it may run. To wake a runtime takes it
/// several microseconds, and the runtime needs no more jobs meanwhile.
pub(super) const STRETCH: Duration = Duration::from_micros(100);

/// The most jobs in a batch.
const MAX_BATCH: u32 = if cfg!(loom) { 1 } else { 16 };

/// When a worker took its batch, and how many jobs were in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunningBatch {
    pub since: Time,
    pub jobs: usize,
}

/// How a job went.
pub(super) struct JobTiming {
    pub service: Duration,
    /// Whether the job blocked its thread in a way that would not block another one.
    pub blocked: bool,
    pub changes: Changes,
}

/// Longer durations count as this one, so that one long job, or one preempted thread, does not change the mean much.
const CEILING: Duration = Duration::from_micros(250);

/// The last job has a weight of 1 in `INERTIA`.
const INERTIA: u32 = 32;

/// A lane in which more than 1 of `BLOCKERS` jobs block needs threads for the others.
const BLOCKERS: u32 = 8;

/// Moving means over the jobs of a lane.
pub(super) struct Pace {
    service: Duration,
    /// The share of those that blocked, of [`Pace::ALL`].
    blocked: u32,
}

impl Pace {
    const ALL: u32 = 1 << 16;

    /// The start value for jobs in memory.
    pub fn quick() -> Pace {
        Pace { service: Duration::from_micros(5), blocked: 0 }
    }

    /// The start value for jobs that wait.
    pub fn slow() -> Pace {
        Pace { service: CEILING, blocked: Pace::ALL }
    }

    pub fn record(&mut self, service: Duration, blocked: bool) {
        self.service = (self.service * (INERTIA - 1) + service.min(CEILING)) / INERTIA;
        self.blocked = (self.blocked * (INERTIA - 1) + if blocked { Pace::ALL } else { 0 }) / INERTIA;
    }

    /// Returns how many jobs a worker takes at once: as many as end before another thread could be woken for one of them.
    pub fn batch_size(&self) -> usize {
        self.jobs_in(WAKE_UP)
    }

    /// Returns how many jobs a worker takes at once that no other one may take: as many as end within a [`STRETCH`].
    pub fn stretch_size(&self) -> usize {
        self.jobs_in(STRETCH)
    }

    fn jobs_in(&self, time: Duration) -> usize {
        let jobs = time.as_nanos() / self.service.as_nanos().max(1);
        jobs.clamp(1, MAX_BATCH.into()) as usize
    }

    /// Returns whether a worker in that batch, with `queued` jobs in its queue, starts one more sooner than another thread could be
    /// woken for it.
    pub fn is_soon(&self, batch: RunningBatch, queued: usize, now: Time) -> bool {
        let time = |jobs: usize| self.service.saturating_mul(u32::try_from(jobs).unwrap_or(u32::MAX));
        let (gone, batch, queued) = (now.since(batch.since), time(batch.jobs), time(queued));
        let is_late = gone.saturating_sub(batch) >= WAKE_UP;
        !is_late && batch.saturating_sub(gone) + queued < WAKE_UP
    }

    /// Returns whether jobs take less than this.
    pub fn is_below(&self, service: Duration) -> bool {
        self.service < service
    }

    /// Returns whether so many jobs block that the lane needs a thread per job.
    pub fn is_blocking(&self) -> bool {
        self.blocked > Pace::ALL / BLOCKERS
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn many_short_jobs_are_over_soon_and_few_long_ones_are_not() {
        let now = Time::now();
        let batch = |jobs| RunningBatch { since: now, jobs };
        let mut pace = Pace::quick();
        assert!(pace.is_soon(batch(1), 2, now) && !pace.is_soon(batch(1), 3, now) && !pace.is_soon(batch(3), 1, now));
        assert_eq!(pace.batch_size(), 4);
        (0..1000).for_each(|_| pace.record(Duration::from_micros(1), false));
        assert!(pace.is_soon(batch(1), 15, now) && !pace.is_soon(batch(1), 20, now));
        assert!(!pace.is_soon(batch(16), 15, now) && pace.is_soon(batch(16), 15, now.after(Duration::from_micros(14))));
        assert_eq!(pace.batch_size(), 16);
        let overdue = now.after(WAKE_UP + Duration::from_micros(2));
        assert!(!pace.is_soon(batch(1), 0, overdue), "its batch takes longer than usual");
        (0..1000).for_each(|_| pace.record(Duration::from_micros(30), false));
        assert!(!pace.is_soon(batch(1), 0, now) && !pace.is_blocking());
        assert_eq!(pace.batch_size(), 1);
    }

    #[test]
    fn a_few_jobs_that_block_do_not_make_a_lane_that_blocks() {
        let mut pace = Pace::quick();
        for _ in 0..10 {
            pace.record(Duration::from_secs(1), true);
            (0..20).for_each(|_| pace.record(Duration::from_micros(2), false));
            assert!(!pace.is_blocking());
        }
        (0..10).for_each(|_| pace.record(Duration::from_micros(150), true));
        assert!(pace.is_blocking());
        assert!(Pace::slow().is_blocking());
    }
}
