//! The clock of events and calls: the CPU's counter if it is reliable, else `CLOCK_MONOTONIC`.
#![cfg_attr(not(rings), allow(dead_code, reason = "there are no rings"))]

#[cfg_attr(any(target_arch = "x86", target_arch = "x86_64"), path = "x86.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
#[cfg_attr(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")), path = "none.rs")]
mod counter;

mod calibration;

pub use calibration::Calibration;

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::forks::hold_across_forks;

static CALIBRATION: Mutex<Option<Calibration>> = Mutex::new(None);

/// Nothing panics under this lock. Always `std`'s lock: loom's models do not measure.
fn lock(calibration: &'static Mutex<Option<Calibration>>) -> MutexGuard<'static, Option<Calibration>> {
    calibration.lock().unwrap_or_else(PoisonError::into_inner)
}

const UNKNOWN: u8 = 0;
const COUNTER: u8 = 1;
const MONOTONIC: u8 = 2;

/// The clock in use. The first calibration chooses it, before anything is recorded. Never changes afterwards.
static SOURCE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Returns the clock's cycles. Never decreases within a thread. Safe in signal handlers.
#[inline]
pub fn now() -> u64 {
    // Relaxed: a thread that records or traces has seen the session, which started after the choice.
    if SOURCE.load(Ordering::Relaxed) == COUNTER { counter::read() } else { nanoseconds(ClockId::Monotonic) as u64 }
}

/// As [`now`], but never 0, and never the same twice on a thread: some clocks do not advance for 40 ns. May be ahead of [`now`].
pub fn unique() -> u64 {
    thread_local! {
        static LAST: Cell<u64> = const { Cell::new(0) };
    }
    let now = now();
    let next = |last: &Cell<u64>| {
        last.set(now.max(last.get() + 1));
        last.get()
    };
    // In a destructor of the thread's end, the clock alone.
    LAST.try_with(next).unwrap_or(now.max(1))
}

/// Chooses the clock and starts to measure its frequency. To be called before the clock times anything.
pub fn prepare() {
    hold_across_forks!(Option<Calibration>, lock(&CALIBRATION));
    lock(&CALIBRATION).get_or_insert_with(Calibration::begin);
}

/// As [`prepare`], and lets [`took`] know the frequency. Costs one load, except the first time.
#[inline]
pub fn prepare_once() {
    // Acquire: with the Release of `publish`. A thread that sees a frequency sees the choice of the clock.
    if NANOSECONDS.load(Ordering::Acquire) == 0 {
        prepare_first();
    }
}

#[cold]
fn prepare_first() {
    prepare();
    refine();
}

/// Converts cycles to time. More precise the longer ago [`prepare`] was called.
pub fn duration(cycles: u64) -> Duration {
    let mut calibration = lock(&CALIBRATION);
    let calibration = calibration.get_or_insert_with(Calibration::begin);
    publish(calibration);
    calibration.duration(cycles)
}

/// Converts a time to cycles.
#[cfg_attr(not(all(recorded, target_os = "linux")), allow(dead_code, reason = "there is no monitor"))]
pub fn cycles(time: Duration) -> u64 {
    let mut calibration = lock(&CALIBRATION);
    let calibration = calibration.get_or_insert_with(Calibration::begin);
    publish(calibration);
    calibration.cycles(time)
}

/// Nanoseconds per cycle, as last [published](publish), with [`FRACTION`] fractional bits.
static NANOSECONDS: AtomicU64 = AtomicU64::new(0);
const FRACTION: u32 = 32;

/// Measures the frequency again, for [`took`], if that makes it notably more precise. Call [`prepare`] before.
pub fn refine() {
    let mut calibration = lock(&CALIBRATION);
    let calibration = calibration.get_or_insert_with(Calibration::begin);
    if calibration.can_improve() {
        publish(calibration);
    }
}

fn publish(calibration: &mut Calibration) {
    calibration.refine();
    // Release: with `prepare_once`.
    NANOSECONDS.store((1_000_000_000 << FRACTION) / calibration.frequency, Ordering::Release);
}

/// Like [`duration`], fast and without blocking, by the last measurement. Long times measure again first.
#[inline]
pub fn took(cycles: u64) -> Duration {
    Duration::from_nanos(took_nanoseconds(cycles))
}

/// [`took`] in nanoseconds.
pub fn took_nanoseconds(cycles: u64) -> u64 {
    const LONG: u64 = 1 << 24;
    if cycles >= LONG {
        try_refine();
    }
    let nanoseconds = NANOSECONDS.load(Ordering::Relaxed);
    ((u128::from(cycles) * u128::from(nanoseconds)) >> FRACTION) as u64
}

/// Measures again, unless another thread does, or a fork has left the lock held.
#[cold]
fn try_refine() {
    if let Ok(mut calibration) = CALIBRATION.try_lock() {
        publish(calibration.get_or_insert_with(Calibration::begin));
    }
}

/// The clock's name in traces.
pub fn name() -> &'static str {
    if choose() == COUNTER { counter::NAME } else { "monotonic" }
}

fn choose() -> u8 {
    match SOURCE.load(Ordering::Relaxed) {
        UNKNOWN => {
            let choice = if counter::is_usable() { COUNTER } else { MONOTONIC };
            // Two threads that choose at the same time choose the same.
            SOURCE.store(choice, Ordering::Relaxed);
            choice
        }
        chosen => chosen,
    }
}

/// The host's clock, for guests (see [`host`](crate::host)).
pub struct HostClock {
    source: fn() -> u8,
}

pub static HOST_CLOCK: HostClock = HostClock { source: choose };

/// Makes this copy a guest.
pub fn enter(host: &'static HostClock) {
    SOURCE.store((host.source)(), Ordering::Relaxed);
}

#[inline]
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
