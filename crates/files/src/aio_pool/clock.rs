//! The monotonic clock. It stands still under loom.

use std::time::Duration;

/// Nanoseconds of the system's monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time(u64);

impl Time {
    #[inline]
    pub fn now() -> Time {
        #[cfg(loom)]
        return Time(0);
        #[cfg(not(loom))]
        {
            let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
            Time((now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64))
        }
    }

    /// Returns the time from `before` to this instant; 0 if `before` is later.
    #[inline]
    pub fn since(self, before: Time) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(before.0))
    }

    #[cfg(all(test, not(loom)))]
    pub fn after(self, duration: Duration) -> Time {
        Time(self.0 + duration.as_nanos() as u64)
    }
}
