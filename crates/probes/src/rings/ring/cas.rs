//! Read-modify-write against the own thread's signal handlers only.
//!
//! A handler runs between two instructions of its thread, so a single instruction suffices: on x86_64 it needs no `lock` prefix, which
//! is the expensive part.

use crate::primitives::atomic::AtomicU64;

/// Stores `new` if `word` is `current`. Only one thread, with its signal handlers, may change `word`; others may read it.
#[cfg(all(target_arch = "x86_64", not(loom), not(miri)))]
#[inline(always)]
pub(super) fn exchange(word: &AtomicU64, current: u64, new: u64) -> bool {
    // SAFETY: `word` is 8 aligned bytes that may change behind a shared reference.
    unsafe {
        core::arch::asm!(
            "cmpxchg qword ptr [{word}], {new}",
            "jne {other}",
            word = in(reg) word.as_ptr(),
            new = in(reg) new,
            inout("rax") current => _,
            other = label { return false },
            options(nostack),
        );
    }
    true
}

/// Stores `new` if `word` is `current`.
#[cfg(not(all(target_arch = "x86_64", not(loom), not(miri))))]
#[inline(always)]
pub(super) fn exchange(word: &AtomicU64, current: u64, new: u64) -> bool {
    use crate::primitives::atomic::Ordering::{Relaxed, Release};
    // Release: with `Ring::settled`, which sees all content sizes if it sees level 0. (On x86_64 every store is a release.)
    word.compare_exchange(current, new, Release, Relaxed).is_ok()
}

/// Adds to `word`, which one thread with its signal handlers may change, and returns whether the sum wrapped. Cheaper than `exchange`, by a
/// nanosecond where that was measured.
#[cfg(all(target_arch = "x86_64", not(loom), not(miri)))]
#[inline(always)]
pub(super) fn add_wraps(word: &AtomicU64, number: u64) -> bool {
    // SAFETY: `word` is 8 aligned bytes that may change behind a shared reference.
    unsafe {
        core::arch::asm!(
            "add qword ptr [{word}], {number}",
            "jnc {other}",
            word = in(reg) word.as_ptr(),
            number = in(reg) number,
            other = label { return false },
            options(nostack),
        );
    }
    true
}

/// Adds to `word` and returns whether the sum wrapped.
#[cfg(not(all(target_arch = "x86_64", not(loom), not(miri))))]
#[inline(always)]
pub(super) fn add_wraps(word: &AtomicU64, number: u64) -> bool {
    // Release: as in `exchange`.
    word.fetch_add(number, crate::primitives::atomic::Ordering::Release).checked_add(number).is_none()
}

/// Adds 1 to `word` and returns the new value. Only the thread that owns `word`, with its signal handlers, may change it.
#[cfg(all(target_arch = "x86_64", not(loom), not(miri)))]
#[inline(always)]
pub(super) fn add_one(word: &AtomicU64) -> u64 {
    let mut before = 1_u64;
    // SAFETY: `word` is 8 aligned bytes that may change behind a shared reference.
    unsafe {
        core::arch::asm!(
            "xadd qword ptr [{word}], {before}",
            word = in(reg) word.as_ptr(),
            before = inout(reg) before,
            options(nostack),
        );
    }
    before + 1
}

/// Adds 1 to `word` and returns the new value.
#[cfg(not(all(target_arch = "x86_64", not(loom), not(miri))))]
#[inline(always)]
pub(super) fn add_one(word: &AtomicU64) -> u64 {
    word.fetch_add(1, crate::primitives::atomic::Ordering::Relaxed) + 1
}
