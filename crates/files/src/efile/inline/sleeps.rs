//! How often a thread slept, from getrusage(2).

use std::mem::MaybeUninit;

/// The number of times that this thread has given the processor away to wait: its voluntary context switches.
pub(super) fn of_this_thread() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage writes a whole rusage; if it fails, the zeroes stay, which are a valid rusage.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    usage.ru_nvcsw as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_is_counted() {
        let before = of_this_thread();
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(of_this_thread() > before);
    }
}
