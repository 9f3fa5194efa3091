//! A limit on events per second.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use rustix::time::clock_gettime;

use dyntrace_probes::rings::os::COARSE;

/// The events of one probe in the current second of the clock.
#[derive(Debug)]
pub(super) struct Rate {
    most: u32,
    /// The second in the high half, its number of events in the low half.
    state: AtomicU64,
}

impl Rate {
    pub fn new(most: u32) -> Rate {
        Rate { most, state: AtomicU64::new(0) }
    }

    /// Counts one event now. Returns whether it is within the limit. Safe in signal handlers.
    pub fn allows(&self) -> bool {
        self.allows_in(clock_gettime(COARSE).tv_sec as u32)
    }

    fn allows_in(&self, second: u32) -> bool {
        let more = |state: u64| {
            let count = if (state >> 32) as u32 == second { state as u32 } else { 0 };
            (count < self.most).then(|| u64::from(second) << 32 | u64::from(count + 1))
        };
        // Relaxed: the count orders nothing.
        self.state.fetch_update(Relaxed, Relaxed, more).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_in_each_second() {
        let rate = Rate::new(2);
        let allowed = |second| rate.allows_in(second);
        assert_eq!([7, 7, 7, 7, 8, 9, 9, 9].map(allowed), [true, true, false, false, true, true, true, false]);
        assert!(!Rate::new(0).allows() && Rate::new(1).allows());
    }
}
