//! Facts about file systems, by the device number that each has in stat(2).
//!
//! After an unmount another file system may get the same number. The system does not tell; the facts of the first then apply to the
//! second.

use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use rustix::fs::{AtFlags, FileType, Statx, StatxFlags};
use rustix::io;

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

/// Without a lock, which a fork could leave locked in the child.
static TABLE: [FileSystem; 64] = [const { FileSystem { number: AtomicU64::new(0), facts: AtomicU8::new(0) } }; 64];
/// Set if any file system refuses reads. While it is clear, no read asks for the device number.
static SOME_REFUSE: AtomicBool = AtomicBool::new(false);

// Relaxed, everywhere: these values publish nothing but themselves; a thread that sees one late asks once more.
struct FileSystem {
    /// The device number plus 1; 0 while the entry is free.
    number: AtomicU64,
    facts: AtomicU8,
}

/// Facts about a file system.
const LOCAL_KIND: u8 = 1;
const OTHER_KIND: u8 = 2;
const REFUSES_READS: u8 = 4;

/// Returns the facts about a device, after taking an entry for it; `None` if the table is full.
fn facts(device: u64) -> Option<&'static AtomicU8> {
    let ours = device + 1;
    let entry = TABLE.iter().find(|entry| match entry.number.load(Ordering::Relaxed) {
        0 => match entry.number.compare_exchange(0, ours, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => true,
            Err(theirs) => theirs == ours,
        },
        number => number == ours,
    });
    entry.map(|entry| &entry.facts)
}

/// Returns the cached metadata of an open file; does not ask a file server.
pub(super) fn known(file: &File) -> io::Result<Statx> {
    rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC, StatxFlags::BASIC_STATS)
}

pub(super) fn is_regular(stat: &Statx) -> bool {
    FileType::from_raw_mode(stat.stx_mode.into()).is_file()
}

fn device(stat: &Statx) -> u64 {
    u64::from(stat.stx_dev_major) << 32 | u64::from(stat.stx_dev_minor)
}

/// Returns whether the file system is local, or `None` if [`detect`] must find out.
pub(super) fn is_local(stat: &Statx) -> Option<bool> {
    // If the table is full, the file system counts as not local.
    let facts = facts(device(stat)).map_or(OTHER_KIND, |facts| facts.load(Ordering::Relaxed));
    (facts & (LOCAL_KIND | OTHER_KIND) != 0).then_some(facts & LOCAL_KIND != 0)
}

/// Finds out whether a file's file system is local. May block.
pub(super) fn detect(file: &File) {
    if let (Ok(stat), Ok(system)) = (known(file), rustix::fs::fstatfs(file)) {
        // The field's type differs from machine to machine; the magic numbers have 32 bits.
        let is_local = LOCAL.contains(&(system.f_type as u64 & 0xffff_ffff));
        note(&stat, if is_local { LOCAL_KIND } else { OTHER_KIND });
    }
}

/// Notes that a file's file system cannot tell whether a read would wait. Does nothing for a FIFO or a device, whose refusal says nothing
/// about the file system of its name.
pub(super) fn refuse_reads(file: &File) {
    if let Ok(stat) = known(file)
        && is_regular(&stat)
    {
        note(&stat, REFUSES_READS);
        SOME_REFUSE.store(true, Ordering::Relaxed);
    }
}

fn note(stat: &Statx, fact: u8) {
    if let Some(facts) = facts(device(stat)) {
        facts.fetch_or(fact, Ordering::Relaxed);
    }
}

pub(super) fn refuses_reads(file: &File) -> bool {
    SOME_REFUSE.load(Ordering::Relaxed) && known(file).is_ok_and(|stat| stat_refuses_reads(&stat))
}

pub(super) fn stat_refuses_reads(stat: &Statx) -> bool {
    facts(device(stat)).is_some_and(|facts| facts.load(Ordering::Relaxed) & REFUSES_READS != 0)
}
