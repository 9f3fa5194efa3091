//! The clock of events and of calls: the CPU's counter where it can be trusted, else `CLOCK_MONOTONIC`.
#![cfg_attr(not(recorder), allow(dead_code, reason = "there is no recorder"))]

#[cfg_attr(any(target_arch = "x86", target_arch = "x86_64"), path = "x86.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
#[cfg_attr(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")), path = "none.rs")]
mod counter;

mod calibration;

pub(crate) use calibration::Calibration;

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::forks::hold_across_forks;

static CALIBRATION: Mutex<Option<Calibration>> = Mutex::new(None);

/// Nothing panics under this lock. `std`'s always: loom's models do not measure.
fn lock(calibration: &'static Mutex<Option<Calibration>>) -> MutexGuard<'static, Option<Calibration>> {
    calibration.lock().unwrap_or_else(PoisonError::into_inner)
}

const UNKNOWN: u8 = 0;
const COUNTER: u8 = 1;
const MONOTONIC: u8 = 2;

/// Which clock it is. Chosen once, by the first calibration, which comes before anything is recorded; then only read.
static SOURCE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Cycles of the clock. Never less than what the same thread read before. Safe in signal handlers.
#[inline]
pub(crate) fn now() -> u64 {
    // Relaxed: whoever records or traces was told of the session after the choice was made.
    if SOURCE.load(Ordering::Relaxed) == COUNTER { counter::read() } else { nanoseconds(ClockId::Monotonic) as u64 }
}

/// Chooses the clock, and has its cycles measured from now on; before anything is timed by it.
pub(crate) fn prepare() {
    hold_across_forks!(Option<Calibration>, lock(&CALIBRATION));
    lock(&CALIBRATION).get_or_insert_with(Calibration::begin);
}

/// How long so many cycles are. [`prepare`] was called some time ago: the longer, the better.
pub(crate) fn duration(cycles: u64) -> Duration {
    let mut calibration = lock(&CALIBRATION);
    let calibration = calibration.get_or_insert_with(Calibration::begin);
    publish(calibration);
    calibration.duration(cycles)
}

/// Nanoseconds of a cycle, by what was [published](publish) last; so many more bits of it are behind the point.
static WORTH: AtomicU64 = AtomicU64::new(0);
const FRACTION: u32 = 32;

/// Has [`took`] know what a cycle is worth, better each time. [`prepare`] was called before.
pub(crate) fn refine() {
    publish(lock(&CALIBRATION).get_or_insert_with(Calibration::begin));
}

fn publish(calibration: &mut Calibration) {
    calibration.refine();
    WORTH.store((1_000_000_000 << FRACTION) / calibration.frequency, Ordering::Relaxed);
}

/// The same as [`duration`], quickly and without waiting for anybody, by what is known since [`refine`]. Of a long time more is asked:
/// there it is worth to look anew.
pub(crate) fn took(cycles: u64) -> Duration {
    const LONG: u64 = 1 << 24;
    if cycles >= LONG {
        look_anew();
    }
    let worth = WORTH.load(Ordering::Relaxed);
    Duration::from_nanos(((u128::from(cycles) * u128::from(worth)) >> FRACTION) as u64)
}

/// Unless another does, or a fork has left the lock taken.
#[cold]
fn look_anew() {
    if let Ok(mut calibration) = CALIBRATION.try_lock() {
        publish(calibration.get_or_insert_with(Calibration::begin));
    }
}

/// What the clock is called in traces.
pub(crate) fn name() -> &'static str {
    if choose() == COUNTER { counter::NAME } else { "monotonic" }
}

fn choose() -> u8 {
    match SOURCE.load(Ordering::Relaxed) {
        UNKNOWN => {
            let choice = if counter::is_usable() { COUNTER } else { MONOTONIC };
            // Two threads that choose at once choose the same.
            SOURCE.store(choice, Ordering::Relaxed);
            choice
        }
        chosen => chosen,
    }
}

/// What this room does for guests: their cycles are the host's.
pub(crate) struct Door {
    source: fn() -> u8,
}

pub(crate) static DOOR: Door = Door { source: choose };

/// This copy is a guest from now on.
pub(crate) fn enter(door: &'static Door) {
    SOURCE.store((door.source)(), Ordering::Relaxed);
}

fn nanoseconds(clock: ClockId) -> i128 {
    let time = clock_gettime(clock);
    i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_answer_is_the_exact_one() {
        prepare();
        // So that the frequency is known well enough.
        std::thread::sleep(Duration::from_millis(20));
        refine();
        for cycles in [1 << 20, 1 << 36] {
            let (quick, exact) = (took(cycles), duration(cycles));
            assert!(quick.abs_diff(exact) <= exact / 100, "{quick:?} instead of {exact:?}");
            assert!(!quick.is_zero());
        }
    }
}
