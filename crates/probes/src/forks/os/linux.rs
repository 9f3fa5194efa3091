//! Linux: `madvise(2)`.

use std::ffi::c_void;

use rustix::mm::{Advice, madvise};

/// Zeroes these pages in each child forked from now on. Returns `false` if the kernel cannot (before 4.14).
///
/// # Safety
///
/// They must be private pages of the caller, for whose contents zeros are valid.
pub unsafe fn wipe_in_children(start: *mut c_void, bytes: usize) -> bool {
    // SAFETY: as the caller promises.
    unsafe { madvise(start, bytes, Advice::LinuxWipeOnFork) }.is_ok()
}

/// Leaves these pages out of each child forked from now on. If the kernel cannot, the child shares them as it does other pages.
///
/// # Safety
///
/// They must be pages of the caller, and unused in children.
pub unsafe fn leave_out_of_children(start: *mut c_void, bytes: usize) {
    // SAFETY: as the caller promises.
    let _ = unsafe { madvise(start, bytes, Advice::LinuxDontFork) };
}
