//! aarch64: the virtual count of the system counter, which is the same on all CPUs.

use core::arch::asm;

pub(super) const NAME: &str = "cntvct";

#[inline(always)]
pub(super) fn read() -> u64 {
    let count: u64;
    // SAFETY: Linux, FreeBSD and macOS let user space read this register (Linux emulates it on CPUs that need a correction); it touches no
    // memory. The barrier keeps readings of a thread in order.
    unsafe { asm!("isb", "mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack, preserves_flags)) };
    count
}

pub(super) fn is_usable() -> bool {
    let frequency: u64;
    // SAFETY: as above. Firmware that does not set up the counter leaves 0 here.
    unsafe { asm!("mrs {}, cntfrq_el0", out(reg) frequency, options(nomem, nostack, preserves_flags)) };
    frequency != 0
}
