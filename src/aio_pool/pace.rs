//! How fast a lane goes: what decides whether another thread is worth its wake-up.

use std::time::Duration;

use super::clock::Time;

/// What it costs, all in all, until a sleeping thread does its first work. Under loom nothing is soon, so that its models see every
/// wake-up.
pub(super) const WAKE_UP: Duration = Duration::from_micros(if cfg!(loom) { 0 } else { 20 });

/// A worker takes no more works at once.
const HANDFUL: u32 = if cfg!(loom) { 1 } else { 16 };

/// What a worker has taken at once, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub since: Time,
    pub works: usize,
}

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

    /// How many works a worker takes at once: as many as are done before another thread could be woken for one of them.
    pub fn handful(&self) -> usize {
        let works = WAKE_UP.as_nanos() / self.service.as_nanos().max(1);
        works.clamp(1, HANDFUL.into()) as usize
    }

    /// Whether a worker at that turn, with so many works in its queue, comes to a further one sooner than another thread could be woken for it.
    pub fn is_soon(&self, turn: Turn, queued: usize, now: Time) -> bool {
        let time = |works: usize| self.service.saturating_mul(u32::try_from(works).unwrap_or(u32::MAX));
        let (gone, turn, queued) = (now.since(turn.since), time(turn.works), time(queued));
        let is_late = gone.saturating_sub(turn) >= WAKE_UP;
        !is_late && turn.saturating_sub(gone) + queued < WAKE_UP
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
        let turn = |works| Turn { since: now, works };
        let mut pace = Pace::quick();
        assert!(pace.is_soon(turn(1), 2, now) && !pace.is_soon(turn(1), 3, now) && !pace.is_soon(turn(3), 1, now));
        assert_eq!(pace.handful(), 4);
        (0..1000).for_each(|_| pace.saw(Duration::from_micros(1), false));
        assert!(pace.is_soon(turn(1), 15, now) && !pace.is_soon(turn(1), 20, now));
        assert!(!pace.is_soon(turn(16), 15, now) && pace.is_soon(turn(16), 15, now.after(Duration::from_micros(14))));
        assert_eq!(pace.handful(), 16);
        let overdue = now.after(WAKE_UP + Duration::from_micros(2));
        assert!(!pace.is_soon(turn(1), 0, overdue), "what it does now takes longer than usual");
        (0..1000).for_each(|_| pace.saw(Duration::from_micros(30), false));
        assert!(!pace.is_soon(turn(1), 0, now) && !pace.is_blocking());
        assert_eq!(pace.handful(), 1);
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
