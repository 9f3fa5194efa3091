//! The program's table.

use std::fs::File;
use std::io;
use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Release};

use dyntrace_probes::forks::ZeroedByFork;

use super::polls;
use super::table::Table;

/// The table; null until there is one. Never freed.
static TABLE: ZeroedByFork<AtomicPtr<Table>> = ZeroedByFork::new(AtomicPtr::new(ptr::null_mut()));

#[inline(always)]
pub(super) fn table() -> Option<&'static Table> {
    // Acquire: with the Release of `start`.
    // SAFETY: null, or a table that is never freed.
    unsafe { TABLE.load(Acquire).as_ref() }
}

/// Whether there is a table.
#[inline(always)]
pub fn is_started() -> bool {
    table().is_some()
}

/// Keeps tasks in `file` from now on; it is new and empty. There is no table yet, and one caller at a time.
///
/// # Errors
///
/// The file cannot grow, or cannot be mapped.
pub fn start(file: File) -> io::Result<()> {
    let new = Box::into_raw(Box::new(Table::new(file)?));
    // Release: with `table`.
    TABLE.store(new, Release);
    Ok(())
}

/// Has the kernel leave forked children without a table. Returns `false` where it cannot.
pub fn wipe_in_children() -> bool {
    // Both: each is asked for.
    TABLE.wipe_in_children() & polls::wipe_in_children()
}

/// Leaves a forked child without a table.
///
/// # Safety
///
/// The caller is the child's only thread.
pub unsafe fn forget() {
    // SAFETY: as the caller promises.
    unsafe {
        TABLE.forget();
        polls::forget();
    }
}
