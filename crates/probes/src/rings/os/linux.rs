//! Linux: `fallocate(2)`, futexes, `/proc`.

use std::ffi::c_void;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, madvise};
use rustix::rand::{GetRandomFlags, getrandom};
use rustix::thread::futex;
use rustix::time::{ClockId, Timespec};

/// A monotonic clock with a resolution of milliseconds, and cheap.
pub const COARSE: ClockId = ClockId::MonotonicCoarse;

/// For mappings that are touched only in part.
pub const NO_RESERVE: MapFlags = MapFlags::NORESERVE;

/// Reserves disk space after the end of a file, which keeps its length. Safe in signal handlers.
///
/// # Errors
///
/// The system's, most likely that the disk is full.
pub fn reserve(file: &impl AsFd, from: u64, upto: u64) -> Result<(), Errno> {
    loop {
        return match fallocate(file, FallocateFlags::KEEP_SIZE, from, upto - from) {
            // Some file systems cannot, and a sandbox may forbid it. On most of them, appending alone reserves space.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::PERM) => Ok(()),
            Err(Errno::INTR) => continue,
            Err(error) => Err(error),
        };
    }
}

/// Whether a file lies on FUSE, whose servers are programs.
pub fn has_server(file: &impl AsFd) -> bool {
    const FUSE: u32 = 0x6573_5546;
    rustix::fs::fstatfs(file).is_ok_and(|system| system.f_type as u32 == FUSE)
}

/// Faults in pages of a mapping for writing. If the kernel cannot, they are faulted in when touched.
///
/// # Safety
///
/// The range lies in a mapping that the caller owns.
pub unsafe fn populate(start: *mut c_void, bytes: usize) {
    // SAFETY: as the caller promises; contents do not change.
    let _ = unsafe { madvise(start, bytes, Advice::LinuxPopulateWrite) };
}

/// Sleeps while `woken` is 0, for `longest` at most.
pub fn pause(woken: &AtomicU32, longest: Duration) {
    let longest = Timespec { tv_sec: longest.as_secs() as _, tv_nsec: longest.subsec_nanos() as _ };
    // Whatever ends it, a round follows.
    let _ = futex::wait(woken, futex::Flags::PRIVATE, 0, Some(&longest));
}

/// Ends the pause of a thread after `woken` was set. Safe in signal handlers.
pub fn end_pause(woken: &AtomicU32) {
    // It fails only for bad addresses.
    let _ = futex::wake(woken, futex::Flags::PRIVATE, 1);
}

/// Fills `bytes` with random bytes.
///
/// # Errors
///
/// The system's.
pub fn random(bytes: &mut [u8; 16]) -> io::Result<()> {
    getrandom(bytes, GetRandomFlags::empty())?;
    Ok(())
}

/// The number of threads of the process; 0 without `/proc`.
pub fn threads() -> usize {
    fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// The address space that the process uses, in bytes; `None` without `/proc`.
pub fn used_addresses() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let kibibytes: u64 = size.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes << 10)
}
