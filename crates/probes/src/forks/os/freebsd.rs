//! FreeBSD: `minherit(2)`. Compiled, never run.

use std::ffi::c_void;

/// Zeroes these pages in each child forked from now on. Returns `false` if the kernel cannot (before 12.0).
///
/// # Safety
///
/// They must be private pages of the caller, for whose contents zeros are valid.
pub unsafe fn wipe_in_children(start: *mut c_void, bytes: usize) -> bool {
    // SAFETY: as the caller promises.
    unsafe { libc::minherit(start, bytes, libc::INHERIT_ZERO) == 0 }
}

/// Leaves these pages out of each child forked from now on.
///
/// # Safety
///
/// They must be pages of the caller, and unused in children.
pub unsafe fn leave_out_of_children(start: *mut c_void, bytes: usize) {
    // SAFETY: as the caller promises.
    unsafe { libc::minherit(start, bytes, libc::INHERIT_NONE) };
}
