//! Systems other than Linux: what POSIX and `getentropy(3)` have.

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
pub(in crate::recorder) const COARSE: ClockId = ClockId::Monotonic;

/// Nothing: systems without this flag reserve no memory for shared mappings of files.
pub(in crate::recorder) const NO_RESERVE: MapFlags = MapFlags::empty();

/// How long a wake-up may go unseen.
const STEP: Duration = Duration::from_millis(4);

/// Takes no space: `posix_fallocate(3)` would make the file longer, so that others saw pages that are not prepared. Appending takes it.
pub(in crate::recorder) fn reserve(_file: &impl AsFd, _from: u64, _upto: u64) -> Result<(), Errno> {
    Ok(())
}

/// Nothing: pages are made ready when they are touched.
///
/// # Safety
///
/// As on Linux.
pub(in crate::recorder) unsafe fn populate(_start: *mut c_void, _bytes: usize) {}

/// Sleeps while `woken` is 0, for `longest` at most, and some milliseconds longer than that where nothing else can be had: no way to wake
/// a thread is both in POSIX, safe in signal handlers, and on all these systems.
pub(in crate::recorder) fn pause(woken: &AtomicU32, longest: Duration) {
    let end = Instant::now() + longest;
    while woken.load(Relaxed) == 0
        && let Some(left) = end.checked_duration_since(Instant::now())
    {
        thread::sleep(left.min(STEP));
    }
}

/// Nothing: [`pause`] looks for itself.
pub(in crate::recorder) fn end_pause(_woken: &AtomicU32) {}

/// Fills `bytes` with random ones.
///
/// # Errors
///
/// The system's.
pub(in crate::recorder) fn random(bytes: &mut [u8; 16]) -> io::Result<()> {
    // SAFETY: so many bytes that the call writes.
    match unsafe { libc::getentropy(bytes.as_mut_ptr().cast(), bytes.len()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A guess, as nobody says how many threads the process has.
pub(in crate::recorder) fn threads() -> usize {
    16
}

/// Nobody says.
pub(in crate::recorder) fn used_addresses() -> Option<u64> {
    None
}
