//! Facts about file systems, by the device number that each has in stat(2), and what their answers have taught.
//!
//! After an unmount another file system may get the same number. The system does not tell; the facts of the first then apply to the
//! second.

use std::fs::File;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::{AtFlags, FileType, StatVfsMountFlags, Statx, StatxFlags};
use rustix::io;

use super::atime::is_written_relative;
use super::back_off::{BackOff, Outcome};
use super::opens::{Tried, try_open};
use super::trial::now;

/// The magic numbers of file systems on local disks and in memory: opening a file and reading its metadata does not wait for another
/// machine or process.
const LOCAL: [u64; 11] = [
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683e, // Btrfs
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0xf2f5_2010, // F2FS
    0x2fc1_2fc1, // ZFS
    0xca45_1a4e, // bcachefs
    0x794c_7630, // overlayfs
    0x7371_7368, // SquashFS
    0xe0f5_e1e2, // EROFS
];

/// Those of them that have their files in memory.
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// Without a lock, which a fork could leave locked in the child.
static TABLE: [FileSystem; 64] = [const { FileSystem::new(0) }; 64];

/// Stands for the file systems of sockets, FIFOs and devices: that of a device's name says nothing about its reads.
pub(super) static OF_OTHERS: FileSystem = FileSystem::new(OTHER_KIND | REFUSES_READS);

/// A file system that was seen.
// Relaxed, everywhere: these values publish nothing but themselves; a thread that sees one late asks once more.
#[derive(Debug)]
pub(super) struct FileSystem {
    /// The device number plus 1; 0 while the entry is free.
    number: AtomicU64,
    facts: AtomicU16,
    back_offs: [BackOff; Attempted::COUNT],
}

/// Commands that are attempted. The times of one of them say nothing about another.
#[derive(Clone, Copy, Debug)]
pub(super) enum Attempted {
    /// READ and PREADV.
    Read,
    ReadFile,
    /// FSTAT of a path, and LSTAT.
    Look,
    Open,
    /// FSTAT of an open file.
    Fstat,
    Seek,
    ReadLink,
    /// WRITE and PWRITEV.
    Write,
    Close,
}

impl Attempted {
    const COUNT: usize = Attempted::Close as usize + 1;

    /// Returns whether the attempt opens the file.
    pub(super) fn opens(self) -> bool {
        matches!(self, Attempted::Open | Attempted::ReadFile)
    }
}

/// Facts about a file system.
const LOCAL_KIND: u16 = 1;
const OTHER_KIND: u16 = 2;
const REFUSES_READS: u16 = 4;
/// A job detects the kind, or tries an open. In a child that is forked meanwhile, it stays unknown: files go to the pool.
const ASKED: u16 = 8;
/// Reads do not change the time of the last access: mounted with `noatime`, or read-only.
const KEEPS_ATIME: u16 = 16;
/// Each read changes it: mounted with `strictatime`.
const STRICT_ATIME: u16 = 32;
/// The last job that tried an open found that nobody is asked.
const OPENS_ASK_NOBODY: u16 = 64;
/// The last job that tried a read found that somebody is asked.
const READS_ASK: u16 = 128;
/// It has no writes that do not wait, or each waits for the disk: mounted with `sync`.
const REFUSES_WRITES: u16 = 512;
/// Its files are in memory. A read waits for nothing unless there is swap.
const MEMORY_KIND: u16 = 256;

impl FileSystem {
    const fn new(facts: u16) -> FileSystem {
        let back_offs = [const { BackOff::new() }; Attempted::COUNT];
        FileSystem { number: AtomicU64::new(0), facts: AtomicU16::new(facts), back_offs }
    }

    /// Returns the file system of a file, after taking an entry for it; `None` if the table is full.
    pub(super) fn of(stat: &Statx) -> Option<&'static FileSystem> {
        let ours = device(stat) + 1;
        TABLE.iter().find(|entry| match entry.number.load(Ordering::Relaxed) {
            0 => match entry.number.compare_exchange(0, ours, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => true,
                Err(theirs) => theirs == ours,
            },
            number => number == ours,
        })
    }

    /// Returns whether the file system is local, or `None` if [`detect`] must find out.
    pub(super) fn is_local(&self) -> Option<bool> {
        let facts = self.facts.load(Ordering::Relaxed);
        (facts & (LOCAL_KIND | OTHER_KIND) != 0).then_some(facts & LOCAL_KIND != 0)
    }

    /// Returns whether the caller must have a job find out, as none does.
    pub(super) fn must_be_detected(&self) -> bool {
        self.facts.fetch_or(ASKED, Ordering::Relaxed) & ASKED == 0
    }

    /// Returns whether reads wait, or it cannot tell: also while a job finds out.
    pub(super) fn refuses_reads(&self) -> bool {
        self.facts.load(Ordering::Relaxed) & (REFUSES_READS | READS_ASK | ASKED) != 0
    }

    /// Returns whether a job must [try](try_open) the next open.
    pub(super) fn must_try_open(&self, attempted: Attempted, is_adaptive: bool) -> bool {
        let asks_nobody = self.facts.load(Ordering::Relaxed) & OPENS_ASK_NOBODY != 0;
        !asks_nobody || is_adaptive && self.back_offs[attempted as usize].has_slept()
    }

    fn tried(&self, tried: Tried, began: Duration, ended: Duration) {
        let learn = |fact| {
            self.facts.fetch_and(fact | !(OPENS_ASK_NOBODY | READS_ASK), Ordering::Relaxed);
            self.note(fact);
        };
        let outcome = match tried {
            Tried::AsksNobody => {
                learn(OPENS_ASK_NOBODY);
                Outcome::Hit
            }
            Tried::OpenSlept => {
                learn(0);
                Outcome::Slept
            }
            Tried::ReadSlept => {
                learn(READS_ASK);
                Outcome::Slept
            }
            Tried::NotOpened => Outcome::Miss,
        };
        for opens in [Attempted::Open, Attempted::ReadFile] {
            self.back_offs[opens as usize].note(outcome, began, ended);
        }
    }

    /// Returns whether writes wait, or it cannot tell.
    pub(super) fn refuses_writes(&self) -> bool {
        self.facts.load(Ordering::Relaxed) & REFUSES_WRITES != 0
    }

    /// Returns whether its files are in memory.
    pub(super) fn is_in_memory(&self) -> bool {
        self.facts.load(Ordering::Relaxed) & MEMORY_KIND != 0
    }

    /// Returns whether reads never change the time of the last access.
    pub(super) fn keeps_atime(&self) -> bool {
        self.facts.load(Ordering::Relaxed) & KEEPS_ATIME != 0
    }

    /// Returns whether a read of the file would change the time of its last access. If two mounts differ, the stricter one counts.
    pub(super) fn would_write_atime(&self, stat: &Statx) -> bool {
        match self.facts.load(Ordering::Relaxed) {
            facts if facts & STRICT_ATIME != 0 => true,
            facts if facts & KEEPS_ATIME != 0 => false,
            _ => is_written_relative(stat),
        }
    }

    pub(super) fn back_off(&'static self, attempted: Attempted) -> &'static BackOff {
        &self.back_offs[attempted as usize]
    }

    fn note(&self, fact: u16) {
        self.facts.fetch_or(fact, Ordering::Relaxed);
    }
}

/// Returns the cached metadata of an open file; does not ask a file server.
pub(super) fn known(file: &File) -> io::Result<Statx> {
    rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC, StatxFlags::BASIC_STATS)
}

pub(super) fn is_regular(stat: &Statx) -> bool {
    FileType::from_raw_mode(stat.stx_mode.into()).is_file()
}

pub(super) fn is_link(stat: &Statx) -> bool {
    FileType::from_raw_mode(stat.stx_mode.into()).is_symlink()
}

pub(super) fn is_same(one: &Statx, other: &Statx) -> bool {
    (device(one), one.stx_ino) == (device(other), other.stx_ino)
}

fn device(stat: &Statx) -> u64 {
    u64::from(stat.stx_dev_major) << 32 | u64::from(stat.stx_dev_minor)
}

/// Finds out whether a file's file system is local and, if the file `is_opened` and regular, whether that asks somebody. May block.
pub(in crate::efile) fn detect(file: &File, is_opened: bool) {
    let Ok(found) = rustix::fs::fstatfs(file) else { return };
    let Some(system) = of_file(file) else { return };
    // The field's type differs from machine to machine; the magic numbers have 32 bits.
    let number = found.f_type as u64 & 0xffff_ffff;
    let is_local = LOCAL.contains(&number);
    system.note(match is_local {
        // Their times are in memory, too.
        true if IN_MEMORY.contains(&number) => LOCAL_KIND | MEMORY_KIND | KEEPS_ATIME,
        true => LOCAL_KIND | mount_facts(file),
        false => OTHER_KIND,
    });
    if is_local && is_opened {
        let began = now();
        system.tried(try_open(file), began, now());
    }
}

fn mount_facts(file: &File) -> u16 {
    let Ok(mount) = rustix::fs::fstatvfs(file) else { return 0 };
    let writes = if mount.f_flag.contains(StatVfsMountFlags::SYNCHRONOUS) { REFUSES_WRITES } else { 0 };
    let atime = if mount.f_flag.intersects(StatVfsMountFlags::NOATIME | StatVfsMountFlags::RDONLY) {
        KEEPS_ATIME
    } else if mount.f_flag.contains(StatVfsMountFlags::RELATIME) {
        0
    } else {
        STRICT_ATIME
    };
    writes | atime
}

/// Notes that no job finds out any more. The next look-up may ask again.
pub(super) fn detected(file: &File) {
    if let Some(system) = of_file(file) {
        system.facts.fetch_and(!ASKED, Ordering::Relaxed);
    }
}

/// Notes that the file system has no writes that do not wait.
pub(super) fn refuse_writes(file: &File) {
    if let Some(system) = of_file(file) {
        system.note(REFUSES_WRITES);
    }
}

fn of_file(file: &File) -> Option<&'static FileSystem> {
    FileSystem::of(&known(file).ok()?)
}

/// Notes that the file system of a regular file cannot tell whether a read would wait. Not before its kind is known: files in memory need
/// not tell.
pub(super) fn refuse_reads(file: &File) {
    if let Some(system) = of_file(file).filter(|system| system.is_local().is_some()) {
        system.note(REFUSES_READS);
    }
}
