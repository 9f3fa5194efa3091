//! The virtual count of the system counter, which the architecture makes one for all CPUs.

use core::arch::asm;

pub(super) const NAME: &str = "cntvct";

#[inline(always)]
pub(super) fn read() -> u64 {
    let count: u64;
    // SAFETY: Linux, FreeBSD and macOS let user space read this register (Linux emulates it on CPUs where it must be corrected); it
    // touches no memory. The barrier before it keeps it from being read ahead of an earlier reading of the same thread.
    unsafe { asm!("isb", "mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack, preserves_flags)) };
    count
}

pub(super) fn is_usable() -> bool {
    let frequency: u64;
    // SAFETY: as above. Firmware that does not set up the counter leaves 0 here.
    unsafe { asm!("mrs {}, cntfrq_el0", out(reg) frequency, options(nomem, nostack, preserves_flags)) };
    frequency != 0
}
