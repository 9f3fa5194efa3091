//! x86: the time stamp counter.

#[cfg(target_arch = "x86")]
use core::arch::x86 as arch;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64 as arch;

pub(super) const NAME: &str = "tsc";

#[inline(always)]
pub(super) fn read() -> u64 {
    // SAFETY: every x86 CPU since the Pentium has this instruction; it touches no memory.
    unsafe { arch::_rdtsc() }
}

/// Whether the counter runs at one rate on all CPUs: the CPU reports an invariant rate, and the kernel, which keeps comparing the CPUs'
/// counters, uses it.
pub(super) fn is_usable() -> bool {
    const POWER: u32 = 0x8000_0007;
    const INVARIANT: u32 = 1 << 8;
    #[allow(unused_unsafe, reason = "a safe function in newer Rust than the oldest supported one")]
    // SAFETY: every x86 CPU since the Pentium has this instruction; it touches no memory.
    let leaf = |number| unsafe { arch::__cpuid(number) };
    let invariant = leaf(0x8000_0000).eax >= POWER && leaf(POWER).edx & INVARIANT != 0;
    let kernels = std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    invariant && kernels.is_ok_and(|name| name.trim_end() == "tsc")
}
