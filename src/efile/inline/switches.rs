//! How often a thread was switched, from getrusage(2).

use std::mem::MaybeUninit;

/// A thread's context switches so far.
#[derive(Clone, Copy)]
pub(super) struct Switches {
    slept: libc::c_long,
    preempted: libc::c_long,
}

impl Switches {
    pub(super) fn of_this_thread() -> Switches {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: getrusage writes a whole rusage; if it fails, the zeroes stay, which are a valid rusage.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
            usage.assume_init()
        };
        Switches { slept: usage.ru_nvcsw, preempted: usage.ru_nivcsw }
    }

    pub(super) fn has_slept_since(self, before: Switches) -> bool {
        self.slept != before.slept
    }

    pub(super) fn was_preempted_since(self, before: Switches) -> bool {
        self.preempted != before.preempted
    }
}
