//! Numbers that one thread and its signal handlers write, and other threads read.

use std::sync::atomic::AtomicU64;

/// Adds in one instruction, so that no signal handler can add in between. On x86-64 that needs no `lock` prefix.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub fn add(number: &AtomicU64, more: u64) {
    // SAFETY: it writes one aligned number, which lives as long as the reference and which no other thread writes.
    unsafe {
        std::arch::asm!("add qword ptr [{}], {}", in(reg) number.as_ptr(), in(reg) more, options(nostack));
    }
}

/// Adds. An addition by a signal handler in between is lost: an atomic read-modify-write would cost more than the rest of most counts.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
pub fn add(number: &AtomicU64, more: u64) {
    use std::sync::atomic::Ordering;
    // Relaxed: one thread writes, and readers need no order.
    number.store(number.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
}

/// [Adds](add) a constant, without a register for it.
#[inline(always)]
pub fn step<const BY: i32>(number: &AtomicU64) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: as in `add`.
    unsafe {
        std::arch::asm!("add qword ptr [{}], {}", in(reg) number.as_ptr(), const BY, options(nostack));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    add(number, i64::from(BY) as u64);
}

/// Returns the number, on the thread that writes it. The compiler compares it in memory, which it does not do with an atomic load.
///
/// # Safety
///
/// No other thread writes it.
#[inline(always)]
pub unsafe fn own(number: &AtomicU64) -> u64 {
    // SAFETY: as the caller promises; a signal handler of this thread writes it whole.
    unsafe { number.as_ptr().read() }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn sums_wrap() {
        let number = AtomicU64::new(40);
        add(&number, 2);
        assert_eq!(number.load(Ordering::Relaxed), 42);
        add(&number, u64::MAX);
        assert_eq!(number.load(Ordering::Relaxed), 41);
        step::<2>(&number);
        step::<-1>(&number);
        // SAFETY: no thread writes it.
        assert_eq!(unsafe { own(&number) }, 42);
    }
}
