//! Systems other than Linux: POSIX and `getentropy(3)`.

use std::ffi::c_void;
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::mm::MapFlags;
use rustix::time::ClockId;

/// A monotonic clock.
pub const COARSE: ClockId = ClockId::Monotonic;

/// Empty: systems without this flag reserve no memory for shared mappings of files.
pub const NO_RESERVE: MapFlags = MapFlags::empty();

/// The longest delay of a wake-up.
const STEP: Duration = Duration::from_millis(4);

/// Does nothing: `posix_fallocate(3)` would make the file longer, and readers would see pages that are not prepared. Appending reserves
/// space.
pub fn reserve(_file: &impl AsFd, _from: u64, _upto: u64) -> Result<(), Errno> {
    Ok(())
}

/// POSIX does not tell.
pub fn has_server(_file: &impl AsFd) -> bool {
    false
}

/// Does nothing: pages are faulted in when touched.
///
/// # Safety
///
/// As on Linux.
pub unsafe fn populate(_start: *mut c_void, _bytes: usize) {}

/// Sleeps while `woken` is 0, for `longest` at most, and notices a change within 4 ms: POSIX has no way to wake a thread that is safe in
/// signal handlers on all these systems.
pub fn pause(woken: &AtomicU32, longest: Duration) {
    let end = Instant::now() + longest;
    while woken.load(Relaxed) == 0
        && let Some(left) = end.checked_duration_since(Instant::now())
    {
        thread::sleep(left.min(STEP));
    }
}

/// Does nothing: [`pause`] polls.
pub fn end_pause(_woken: &AtomicU32) {}

/// Fills `bytes` with random bytes.
///
/// # Errors
///
/// The system's.
pub fn random(bytes: &mut [u8; 16]) -> io::Result<()> {
    // SAFETY: the call writes `bytes.len()` bytes.
    match unsafe { libc::getentropy(bytes.as_mut_ptr().cast(), bytes.len()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A guess: POSIX does not tell.
pub fn threads() -> usize {
    16
}

/// POSIX does not tell.
pub fn used_addresses() -> Option<u64> {
    None
}
