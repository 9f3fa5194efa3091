//! FreeBSD: `minherit(2)`. Compiled, never run.

use std::ffi::c_void;

/// Has each child that is forked from now on find zeros in these pages. `false` where the kernel cannot (before 12.0).
///
/// # Safety
///
/// They are private pages of the caller's, in which all zeros are values.
pub(crate) unsafe fn wipe_in_children(start: *mut c_void, bytes: usize) -> bool {
    // SAFETY: as the caller promises.
    unsafe { libc::minherit(start, bytes, libc::INHERIT_ZERO) == 0 }
}

/// Has each child that is forked from now on have nothing at these addresses.
///
/// # Safety
///
/// They are pages of the caller's, which nobody uses in a child.
pub(crate) unsafe fn leave_out_of_children(start: *mut c_void, bytes: usize) {
    // SAFETY: as the caller promises.
    unsafe { libc::minherit(start, bytes, libc::INHERIT_NONE) };
}
