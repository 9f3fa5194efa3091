//! Systems whose children have all of their parent's memory, and miri.

use std::ffi::c_void;

/// Children have what their parent has.
///
/// # Safety
///
/// As on Linux.
pub(crate) unsafe fn wipe_in_children(_start: *mut c_void, _bytes: usize) -> bool {
    false
}

/// Children have what their parent has.
///
/// # Safety
///
/// As on Linux.
pub(crate) unsafe fn leave_out_of_children(_start: *mut c_void, _bytes: usize) {}
