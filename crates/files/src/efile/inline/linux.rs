//! Linux: preadv2(2) with `RWF_NOWAIT` and openat2(2) with `RESOLVE_CACHED`.
//!
//! Cases that these flags do not cover, and how the driver handles them:
//!
//! - On Linux 5.9 and 5.10 a read may return 0 in the middle of a file: no attempts there.
//! - A read that misses starts the disk's read-ahead before it gives up, and hits if the disk was quick.
//! - A read of a socket, a FIFO or a device takes bytes, or an error that the kernel tells once: the pool could not repeat it. So only
//!   regular files are read.
//! - With `O_DIRECT` a read waits for the disk anyway: no attempts on such files.
//! - A read that has the system write the time of the last access may wait for the journal. In adaptive mode the driver looks at the
//!   file's times first, and leaves such reads to the pool: the first one after a change, and one a day. A look holds for a millisecond: one
//!   for each read costs a third as much as the read.
//! - Of an open, only the look-up of the name never waits. Opening a FIFO waits for its other end, a file under a lease for the lease
//!   holder, and a file of FUSE or NFS, as well as its metadata, for the server. So the driver first opens a name with `O_PATH`, which
//!   never waits, and goes on only with a regular file of a local file system. It adds `O_NONBLOCK` because of leases. The open itself may
//!   ask another process: see [`opens`](super::opens).
//! - tmpfs and ramfs refuse the flag. Their files are in memory, except for pages that were swapped out: without swap, a read needs no flag.
//!   The driver asks sysinfo(2) at most once a millisecond; it counts areas that are being emptied, too.
//! - readlinkat(2) has no flag. A target that takes no blocks is in the inode: others may have to be read. Reading it changes the time of the
//!   last access.
//! - realpath(3) looks up each name above the last. The driver opens the name, and asks `/proc` for the path of the descriptor. That path
//!   has a mark after it if the file was removed, and may lead elsewhere below another root directory or mount: so it must lead to the same
//!   file, without symbolic links.
//! - A buffered write that would wait for a page, a block, a lock or the journal has no effect under the flag. XFS and btrfs know it, ext4
//!   and tmpfs refuse. The time of the last change is written only a few times a second, so most writes of a burst hit, and a lone one
//!   misses. No attempts where a write must reach the disk.
//! - lseek(2) has no flag. On local file systems it sets the position, or adds to it, or to the length of the file in memory; it asks for
//!   no data or hole. overlayfs takes a lock that the copy of a lower file holds: the back-off learns that.
//! - The close of a file that was written may wait for the disk, and the last close of a file without a name frees its blocks: no attempts
//!   on either. If the name goes between the look and the close, that one close may be slow.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, Statx};
use rustix::io::{Errno, ReadWriteFlags};

use super::attempt::{Attempt, MAX_SIZE, Miss};
use super::back_off::{BackOff, microseconds};
use super::file_systems::{
    Attempted, FileSystem, OF_OTHERS, is_link, is_regular, is_same, known, refuse_reads, refuse_writes,
};
use super::of_file::LOOK_HOLDS;
use super::opens::OWN_DESCRIPTORS;
use super::trial::{Trial, now};
use crate::efile::inode::Inode;

pub(in crate::efile) use super::file_systems::detect;
pub(super) use super::file_systems::detected;

pub(super) const IS_SUPPORTED: bool = true;

/// The file system of an open regular file; `None` if the table has no room for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileSystemPlace(Option<&'static FileSystem>);

impl FileSystemPlace {
    /// Does not ask a file server.
    pub(super) fn of(file: &File) -> FileSystemPlace {
        FileSystemPlace(known(file).ok().filter(is_regular).map_or(Some(&OF_OTHERS), |stat| FileSystem::of(&stat)))
    }

    /// Returns whether no read is attempted.
    pub(super) fn refuses_reads(self) -> bool {
        self.0.is_some_and(FileSystem::refuses_reads)
    }

    /// Returns the back-off of READ and PREADV. `None` on a file system that is known not to be local.
    pub(super) fn reads(self) -> Option<&'static BackOff> {
        // If its kind is not known: the flag has the system refuse to wait on any.
        let system = self.0.filter(|system| system.is_local() != Some(false))?;
        Some(system.back_off(Attempted::Read))
    }

    /// Returns the flags of a read that must not wait.
    fn read_flags(self, now: Duration) -> ReadWriteFlags {
        self.0.map_or(ReadWriteFlags::NOWAIT, |system| read_flags(system, now))
    }

    /// Returns whether a read of the file would have the system write the time of its last access.
    pub(super) fn would_write_atime(self, file: &File, flags: i32) -> bool {
        if OFlags::from_bits_retain(flags as _).contains(OFlags::NOATIME) {
            return false;
        }
        match self.0 {
            Some(system) => !system.keeps_atime() && known(file).map_or(true, |stat| system.would_write_atime(&stat)),
            None => true,
        }
    }

    /// Returns the back-off of FSTAT of an open file. `None` unless the file system is known to be local: no flag keeps fstat(2) from
    /// asking a file server.
    pub(super) fn fstats(self) -> Option<&'static BackOff> {
        self.local(Attempted::Fstat)
    }

    /// Returns the back-off of WRITE and PWRITEV. `None` where the system refuses such attempts, or may.
    pub(super) fn writes(self) -> Option<&'static BackOff> {
        if self.0?.refuses_writes() { None } else { self.local(Attempted::Write) }
    }

    /// Returns the back-off of LSEEK. `None` unless the file system is known to be local: others ask a server for the end of the file.
    pub(super) fn seeks(self) -> Option<&'static BackOff> {
        self.local(Attempted::Seek)
    }

    /// Finds out the kind of the file system, if it is not known and no job does. May block.
    pub(super) fn detect(self, file: &File) {
        if self.0.is_some_and(|system| system.is_local().is_none() && system.must_be_detected()) {
            detect(file, false);
            detected(file);
        }
    }

    /// Returns the back-off of CLOSE. `None` unless the file system is known to be local: others tell a server.
    pub(super) fn closes(self) -> Option<&'static BackOff> {
        self.local(Attempted::Close)
    }

    fn local(self, attempted: Attempted) -> Option<&'static BackOff> {
        let system = self.0.filter(|system| system.is_local() == Some(true))?;
        Some(system.back_off(attempted))
    }
}

/// Returns whether the file has a name. The close of one that has none may remove it.
pub(super) fn is_linked(file: &File) -> bool {
    known(file).is_ok_and(|stat| stat.stx_nlink > 0)
}

/// Returns whether this kernel allows attempts to read files with these flags.
pub(super) fn can_read(flags: i32) -> bool {
    static KERNEL: LazyLock<bool> = LazyLock::new(|| reads_are_right(rustix::system::uname().release().to_bytes()));
    !OFlags::from_bits_retain(flags as _).contains(OFlags::DIRECT) && *KERNEL
}

fn reads_are_right(release: &[u8]) -> bool {
    let mut numbers = release.split(|byte| !byte.is_ascii_digit()).map(number);
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(major), Some(minor)) => !matches!((major, minor), (5, 9 | 10)),
        _ => false,
    }
}

fn number(digits: &[u8]) -> Option<u32> {
    str::from_utf8(digits).ok()?.parse().ok()
}

fn read_flags(system: &FileSystem, now: Duration) -> ReadWriteFlags {
    let never_waits = system.is_in_memory() && !has_swap(now);
    if never_waits { ReadWriteFlags::empty() } else { ReadWriteFlags::NOWAIT }
}

fn has_swap(now: Duration) -> bool {
    /// Relaxed: it publishes nothing but itself.
    static NONE_UNTIL: AtomicU64 = AtomicU64::new(0);
    if microseconds(now) < NONE_UNTIL.load(Ordering::Relaxed) {
        return false;
    }
    let has_swap = rustix::system::sysinfo().totalswap > 0;
    if !has_swap {
        NONE_UNTIL.store(microseconds(now + LOOK_HOLDS), Ordering::Relaxed);
    }
    has_swap
}

pub(super) fn read_at(
    place: FileSystemPlace,
    file: &File,
    bytes: &mut [u8],
    offset: u64,
    trial: &Trial,
) -> Attempt<usize> {
    let flags = place.read_flags(trial.began());
    // EINVAL for such a range would look like a file system that refuses.
    let end = offset.checked_add(bytes.len() as u64).filter(|&end| i64::try_from(end).is_ok());
    if end.is_none() {
        return Err(Miss::NotCached);
    }
    let mut done = 0;
    loop {
        // A short read means the end of the file, or that only the beginning is cached.
        match read_some(file, &mut bytes[done..], offset + done as u64, flags)? {
            0 => return Ok(done),
            count => done += count,
        }
        if done == bytes.len() {
            return Ok(done);
        }
    }
}

/// In place of an offset.
const AT_CURSOR: u64 = u64::MAX;

pub(super) fn read(place: FileSystemPlace, file: &File, bytes: &mut [u8], trial: &Trial) -> Attempt<usize> {
    read_some(file, bytes, AT_CURSOR, place.read_flags(trial.began()))
}

fn read_some(file: &File, bytes: &mut [u8], offset: u64, flags: ReadWriteFlags) -> Attempt<usize> {
    rustix::io::preadv2(file, &mut [IoSliceMut::new(bytes)], offset, flags).map_err(|error| match error {
        // The last two come from system call filters.
        Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS | Errno::PERM => {
            refuse_reads(file);
            Miss::Refused
        }
        _ => Miss::NotCached,
    })
}

/// Returns whether a write to a file with these flags ends in the cache.
pub(super) fn can_write(flags: i32) -> bool {
    !OFlags::from_bits_retain(flags as _).intersects(OFlags::DIRECT | OFlags::DSYNC | OFlags::SYNC)
}

/// Writes as many bytes as the cache has room for, at the cursor without an offset.
pub(in crate::efile) fn write(file: &File, bytes: &[u8], offset: Option<u64>) -> Attempt<usize> {
    // The last offset of all stands for the cursor.
    if offset.is_some_and(|offset| i64::try_from(offset).is_err()) {
        return Err(Miss::NotCached);
    }
    let offset = offset.unwrap_or(AT_CURSOR);
    rustix::io::pwritev2(file, &[IoSlice::new(bytes)], offset, ReadWriteFlags::NOWAIT).map_err(|error| match error {
        Errno::OPNOTSUPP | Errno::NOSYS => {
            refuse_writes(file);
            Miss::Refused
        }
        _ => Miss::NotCached,
    })
}

pub(crate) fn metadata(path: &Path, trial: &mut Trial) -> Attempt<Metadata> {
    let (file, ..) = look_up(path, OFlags::empty(), Attempted::Look, trial)?;
    Ok(file.metadata()?)
}

pub(crate) fn symlink_metadata(path: &Path, trial: &mut Trial) -> Attempt<Metadata> {
    let (file, ..) = look_up(path, OFlags::NOFOLLOW, Attempted::Look, trial)?;
    Ok(file.metadata()?)
}

pub(crate) fn read_link(path: &Path, trial: &mut Trial) -> Attempt<PathBuf> {
    let (link, stat, system) = look_up(path, OFlags::NOFOLLOW, Attempted::ReadLink, trial)?;
    let may_wait = stat.stx_blocks > 0 || trial.is_adaptive() && system.would_write_atime(&stat);
    if !is_link(&stat) || may_wait {
        return Err(Miss::NotCached);
    }
    target(&link, Path::new(""))
}

pub(crate) fn canonicalize(path: &Path, trial: &mut Trial) -> Attempt<PathBuf> {
    let (file, stat, _) = look_up(path, OFlags::empty(), Attempted::Look, trial)?;
    let direct = target(CWD, &Path::new(OWN_DESCRIPTORS).join(file.as_raw_fd().to_string()))?;
    let resolve = ResolveFlags::CACHED | ResolveFlags::NO_SYMLINKS;
    let again = rustix::fs::openat2(CWD, &direct, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve);
    let is_same = again.is_ok_and(|again| known(&again.into()).is_ok_and(|other| is_same(&stat, &other)));
    if is_same && direct.is_absolute() { Ok(direct) } else { Err(Miss::NotCached) }
}

fn target(folder: impl AsFd, name: &Path) -> Attempt<PathBuf> {
    let target = rustix::fs::readlinkat(folder, name, Vec::new()).map_err(|_| Miss::NotCached)?;
    Ok(OsString::from_vec(target.into_bytes()).into())
}

/// Returns whether these flags only open a file for reading.
pub(crate) fn can_open(flags: OFlags) -> bool {
    (OFlags::CLOEXEC | OFlags::NOFOLLOW).contains(flags)
}

pub(crate) fn open(path: &Path, flags: OFlags, trial: &mut Trial) -> Attempt<(File, FileSystemPlace)> {
    debug_assert!(can_open(flags));
    let (.., system) = look_up(path, flags & OFlags::NOFOLLOW, Attempted::Open, trial)?;
    Ok((open_regular(path, flags)?, FileSystemPlace(Some(system))))
}

pub(crate) fn read_file(path: &Path, trial: &mut Trial) -> Attempt<Vec<u8>> {
    let (_, stat, system) = look_up(path, OFlags::empty(), Attempted::ReadFile, trial)?;
    let size = usize::try_from(stat.stx_size).ok().filter(|&size| size < MAX_SIZE).ok_or(Miss::NotCached)?;
    if !can_read(0) || system.refuses_reads() {
        return Err(Miss::Refused);
    }
    if trial.is_adaptive() && system.would_write_atime(&stat) {
        return Err(Miss::NotCached);
    }
    let file = open_to_read(path, OFlags::CLOEXEC)?;
    // One byte more, to detect a file that has grown.
    let mut bytes = vec![0; size + 1];
    // After a short read, the rest may not be cached.
    match read_some(&file, &mut bytes, 0, read_flags(system, trial.began()))? {
        count if count == size => {
            bytes.truncate(size);
            Ok(bytes)
        }
        _ => Err(Miss::NotCached),
    }
}

/// Returns the inode of a regular file. Does not ask a file server.
pub(in crate::efile) fn inode_of(file: &File) -> Option<Inode> {
    let stat = known(file).ok().filter(is_regular)?;
    Some(Inode::new(rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor), stat.stx_ino))
}

/// Returns the inode of the regular file that a name leads to, `None` if it leads to no such file.
pub(in crate::efile) fn cached_inode(path: &Path) -> Attempt<Option<Inode>> {
    Ok(inode_of(&open_cached(path, OFlags::PATH | OFlags::CLOEXEC)?))
}

/// Opens a name that led to a regular file, for reading.
fn open_regular(path: &Path, flags: OFlags) -> Attempt<File> {
    let file = open_to_read(path, flags)?;
    rustix::fs::fcntl_setfl(&file, OFlags::empty()).map_err(|_| Miss::NotCached)?;
    Ok(file)
}

fn open_to_read(path: &Path, flags: OFlags) -> Attempt<File> {
    open_cached(path, flags | OFlags::NONBLOCK)
}

/// Looks up a name on a local file system that has not paused such attempts. An attempt that opens the file needs a regular one.
fn look_up(
    path: &Path,
    follow: OFlags,
    attempted: Attempted,
    trial: &mut Trial,
) -> Attempt<(File, Statx, &'static FileSystem)> {
    let file = open_cached(path, OFlags::PATH | OFlags::CLOEXEC | follow)?;
    let stat = known(&file).map_err(|_| Miss::NotCached)?;
    let is_opened = attempted.opens();
    if is_opened && !is_regular(&stat) {
        return Err(Miss::NotCached);
    }
    // If the table is full, the file system counts as not local.
    let system = FileSystem::of(&stat).ok_or(Miss::NotCached)?;
    match system.is_local() {
        Some(true) if is_opened && system.must_try_open(attempted, trial.is_adaptive()) => {
            let asks = system.back_off(attempted).allows(now) && system.must_be_detected();
            Err(if asks { Miss::Unknown { file, is_opened } } else { Miss::NotCached })
        }
        Some(true) => {
            trial.on(system.back_off(attempted))?;
            Ok((file, stat, system))
        }
        Some(false) => Err(Miss::NotCached),
        None if system.must_be_detected() => Err(Miss::Unknown { file, is_opened }),
        None => Err(Miss::NotCached),
    }
}

fn open_cached(path: &Path, flags: OFlags) -> Attempt<File> {
    /// Relaxed: one attempt more is harmless.
    static REFUSED: AtomicBool = AtomicBool::new(false);
    if REFUSED.load(Ordering::Relaxed) {
        return Err(Miss::Refused);
    }
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED) {
        Ok(file) => Ok(file.into()),
        Err(error @ (Errno::NOENT | Errno::NOTDIR)) => Err(Miss::Error(error.into())),
        // A kernel before 5.12, or a system call filter.
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => {
            REFUSED.store(true, Ordering::Relaxed);
            Err(Miss::Refused)
        }
        Err(_) => Err(Miss::NotCached),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_with_wrong_ends_of_files_are_known() {
        for (release, right) in [
            ("6.18.44", true),
            ("5.8.0-63-generic", true),
            ("5.9.16", false),
            ("5.10", false),
            ("5.10.0-8-amd64", false),
            ("5.11.0", true),
            ("4.19.0", true),
            ("15.9.0", true),
            ("unknown", false),
            ("", false),
        ] {
            assert_eq!(reads_are_right(release.as_bytes()), right, "{release:?}");
        }
    }
}
