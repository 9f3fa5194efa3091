//! Miri, and systems whose children always get all of their parent's memory.

use std::ffi::c_void;

/// Does nothing: children get all pages.
///
/// # Safety
///
/// As on Linux.
pub unsafe fn wipe_in_children(_start: *mut c_void, _bytes: usize) -> bool {
    false
}

/// Does nothing: children get all pages.
///
/// # Safety
///
/// As on Linux.
pub unsafe fn leave_out_of_children(_start: *mut c_void, _bytes: usize) {}
