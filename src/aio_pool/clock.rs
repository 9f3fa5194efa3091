//! The time, for what rests on durations. It stands still under loom.

use std::time::Instant;

pub(super) fn now() -> Instant {
    #[cfg(not(loom))]
    return Instant::now();
    #[cfg(loom)]
    {
        static BEGIN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        *BEGIN.get_or_init(Instant::now)
    }
}
