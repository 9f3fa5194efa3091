//! How fast a lane goes: what decides whether another thread is worth its wake-up.

use std::time::Duration;

use super::clock::Time;

/// What it costs, all in all, until a sleeping thread does its first work. Under loom nothing is soon, so that its models see every
/// wake-up.
pub(super) const WAKE_UP: Duration = Duration::from_micros(if cfg!(loom) { 0 } else { 20 });

/// More is seen as no more than this, so that one work, or a thread that lost its processor for a while, says nothing of the others.
const CEILING: Duration = Duration::from_micros(250);

/// The weight of what was seen last is one in so many.
const INERTIA: u32 = 32;

/// Where more than one work in so many sleeps, a lane needs threads for those that do not.
const SLEEPERS: u32 = 8;

/// Moving means over the works of a lane.
pub(super) struct Pace {
    service: Duration,
    /// The share of those that slept, of [`Pace::ALL`].
    slept: u32,
}

impl Pace {
    const ALL: u32 = 1 << 16;

    /// Of works in memory, as long as nothing was seen.
    pub fn quick() -> Pace {
        Pace { service: Duration::from_micros(5), slept: 0 }
    }

    /// Of works that wait.
    pub fn slow() -> Pace {
        Pace { service: CEILING, slept: Pace::ALL }
    }

    /// A work took so long, asleep for the better part or not.
    pub fn saw(&mut self, service: Duration, slept: bool) {
        self.service = (self.service * (INERTIA - 1) + service.min(CEILING)) / INERTIA;
        self.slept = (self.slept * (INERTIA - 1) + if slept { Pace::ALL } else { 0 }) / INERTIA;
    }

    /// Whether a worker that is busy since then, with so many works before it, comes to a further one sooner than another thread
    /// could be woken for it.
    pub fn is_soon(&self, since: Time, works: usize, now: Time) -> bool {
        let ahead = self.service.saturating_mul(u32::try_from(works + 1).unwrap_or(u32::MAX));
        ahead < WAKE_UP && now.since(since) < WAKE_UP
    }

    /// Whether so many works sleep that the lane needs threads as it has works.
    pub fn is_blocking(&self) -> bool {
        self.slept > Pace::ALL / SLEEPERS
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn many_short_works_are_over_soon_and_few_long_ones_are_not() {
        let now = Time::now();
        let mut pace = Pace::quick();
        assert!(pace.is_soon(now, 2, now) && !pace.is_soon(now, 3, now));
        (0..1000).for_each(|_| pace.saw(Duration::from_micros(1), false));
        assert!(pace.is_soon(now, 15, now) && !pace.is_soon(now, 20, now));
        assert!(!pace.is_soon(now, 0, now.after(WAKE_UP)), "what it does now takes longer than usual");
        (0..1000).for_each(|_| pace.saw(Duration::from_micros(30), false));
        assert!(!pace.is_soon(now, 0, now) && !pace.is_blocking());
    }

    #[test]
    fn some_works_that_sleep_among_others_do_not_make_a_lane_that_blocks() {
        let mut pace = Pace::quick();
        for _ in 0..10 {
            pace.saw(Duration::from_secs(1), true);
            (0..20).for_each(|_| pace.saw(Duration::from_micros(2), false));
            assert!(!pace.is_blocking());
        }
        (0..10).for_each(|_| pace.saw(Duration::from_micros(150), true));
        assert!(pace.is_blocking());
        assert!(Pace::slow().is_blocking());
    }
}
