//! Linux: `madvise(2)`.

use std::ffi::c_void;

use rustix::mm::{Advice, madvise};

/// Has each child that is forked from now on find zeros in these pages. `false` where the kernel cannot (before 4.14).
///
/// # Safety
///
/// They are private pages of the caller's, in which all zeros are values.
pub(crate) unsafe fn wipe_in_children(start: *mut c_void, bytes: usize) -> bool {
    // SAFETY: as the caller promises.
    unsafe { madvise(start, bytes, Advice::LinuxWipeOnFork) }.is_ok()
}

/// Has each child that is forked from now on have nothing at these addresses. Where the kernel cannot, it has the same as its parent.
///
/// # Safety
///
/// They are pages of the caller's, which nobody uses in a child.
pub(crate) unsafe fn leave_out_of_children(start: *mut c_void, bytes: usize) {
    // SAFETY: as the caller promises.
    let _ = unsafe { madvise(start, bytes, Advice::LinuxDontFork) };
}
