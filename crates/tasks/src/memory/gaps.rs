//! Mappings whose missing pages only a server delivers: of FUSE, NFS and the like. A process that reads such a page waits for the server,
//! which may never answer, and cannot be killed meanwhile. Pages that are present need no server.
//!
//! The device of a mapping and the list of mounts tell the file system, and the kernel shows both without asking a server. A file system
//! that is in neither list of mounts, the process's nor the reader's, may be a FUSE that was detached.

use std::collections::HashMap;
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::maps::Mapping;

/// File systems without a block device whose pages this machine has.
const LOCAL: [&str; 10] =
    ["bcachefs", "btrfs", "devtmpfs", "hugetlbfs", "overlay", "ramfs", "rootfs", "tmpfs", "ubifs", "zfs"];

/// Major and minor number.
type Device = (u32, u32);

/// The mappings that may need a server, in order.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    gaps: Vec<Gap>,
    pagemap: Option<File>,
    page: u64,
}

#[derive(Debug)]
struct Gap {
    range: Range<u64>,
    /// Whether a part of it was asked for, and not read.
    is_missed: AtomicBool,
}

impl Gaps {
    /// Finds them among the mappings of the process whose folder in /proc is `proc`. Those of `before` that were missed stay so.
    pub(super) fn of(proc: &str, maps: &[Mapping], before: &Gaps) -> Gaps {
        let of_files = || maps.iter().filter(|map| map.inode != 0);
        let mounts = [format!("{proc}mountinfo"), "/proc/self/mountinfo".to_owned()]
            .map(|path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned());
        let kinds: HashMap<Device, &str> = mounts.iter().flat_map(|mounts| kinds(mounts)).collect();
        let gaps = of_files().filter(|map| !is_local(map.device, kinds.get(&map.device).copied()));
        let gap = |map: &Mapping| {
            let is_missed = AtomicBool::new(before.at(map.range.start).is_some_and(|gap| gap.is_missed.load(Relaxed)));
            Gap { range: map.range.clone(), is_missed }
        };
        let gaps: Vec<Gap> = gaps.map(gap).collect();
        let pagemap = if gaps.is_empty() { None } else { File::open(format!("{proc}pagemap")).ok() };
        Gaps { gaps, pagemap, page: rustix::param::page_size() as u64 }
    }

    fn at(&self, address: u64) -> Option<&Gap> {
        let first = self.gaps.partition_point(|gap| gap.range.end <= address);
        self.gaps.get(first).filter(|gap| gap.range.contains(&address))
    }

    /// Whether reading these bytes needs no server.
    pub(super) fn may_read(&self, address: u64, length: usize) -> bool {
        let end = address.saturating_add(length as u64);
        let first = self.gaps.partition_point(|gap| gap.range.end <= address);
        let mut gaps = self.gaps[first..].iter().take_while(|gap| gap.range.start < end);
        let may_read = |gap: &Gap| {
            let is_present = self.is_present(gap.range.start.max(address)..gap.range.end.min(end));
            if !is_present {
                gap.is_missed.store(true, Relaxed);
            }
            is_present
        };
        gaps.all(may_read)
    }

    fn is_present(&self, range: Range<u64>) -> bool {
        let (first, end) = (range.start / self.page, range.end.div_ceil(self.page));
        let Some(pagemap) = &self.pagemap else { return false };
        (first..end).all(|page| {
            let mut entry = [0; 8];
            // Bit 63: present. Bit 62: swapped.
            pagemap.read_exact_at(&mut entry, page * 8).is_ok() && entry[7] >> 6 != 0
        })
    }

    /// Returns the number of mappings of which a part was asked for, and not read.
    pub(super) fn missed(&self) -> usize {
        self.gaps.iter().filter(|gap| gap.is_missed.load(Relaxed)).count()
    }
}

/// Whether pages of a file on `device` come without a server. `kind` is the file system that the mounts name.
fn is_local(device: Device, kind: Option<&str>) -> bool {
    match kind {
        Some(kind) if kind.starts_with("fuse") => false,
        _ if device.0 != 0 => true,
        Some(kind) => LOCAL.contains(&kind),
        None => false,
    }
}

/// Parses a list of mounts: `ID PARENT MAJOR:MINOR ROOT PLACE OPTIONS TAGS... - KIND SOURCE OPTIONS`. Blanks in paths are escaped.
fn kinds(mounts: &str) -> impl Iterator<Item = (Device, &str)> {
    mounts.lines().filter_map(|line| {
        let (before, behind) = line.split_once(" - ")?;
        let (major, minor) = before.split(' ').nth(2)?.split_once(':')?;
        Some(((major.parse().ok()?, minor.parse().ok()?), behind.split(' ').next()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/root rw
30 22 0:28 / /run rw,nosuid - tmpfs tmpfs rw,size=10%
40 22 0:51 / /mnt/a\\040-\\040b rw shared:9 master:2 - fuse.sshfs host:/ rw
41 22 8:2 / /mnt/ntfs rw - fuseblk /dev/sda2 rw
42 22 0:52 / /mnt/nfs rw - nfs4 host:/ rw
";

    #[test]
    fn file_systems_with_servers_are_told_from_others() {
        let kinds: HashMap<Device, &str> = kinds(MOUNTS).collect();
        let is_local = |device| is_local(device, kinds.get(&device).copied());
        assert_eq!([(254, 1), (0, 28), (8, 7)].map(is_local), [true; 3]);
        // The last one is not mounted, or not any more.
        assert_eq!([(0, 51), (8, 2), (0, 52), (0, 99)].map(is_local), [false; 4]);
        assert_eq!(super::kinds("\nx - y z\n1 2 3 - k\n1 2 3:z - k\n").count(), 0);
    }

    #[test]
    fn present_pages_of_a_gap_are_read() {
        let page = rustix::param::page_size();
        let mut memory = memmap2::MmapMut::map_anon(4 * page).unwrap();
        memory.advise(memmap2::Advice::NoHugePage).unwrap();
        memory[2 * page] = 1;
        let start = memory.as_ptr().addr() as u64;
        let (at, page) = (|index: u64| start + index * page as u64, page as u64);
        let gap = |index: u64| Gap { range: at(index)..at(index + 1), is_missed: AtomicBool::new(false) };
        let pagemap = File::open("/proc/self/pagemap").ok();
        let gaps = Gaps { gaps: vec![gap(0), gap(2)], pagemap, page };
        let may_read = |address: u64, length: u64| gaps.may_read(address, length as usize);
        assert!(may_read(at(2) + 8, 8) && may_read(at(1), page) && may_read(at(1), 3 * page));
        assert_eq!(gaps.missed(), 0);
        assert!(!may_read(at(1) - 1, 1) && !may_read(at(0) - 1, 4 * page) && !may_read(0, usize::MAX as u64));
        assert_eq!(gaps.missed(), 1);
    }
}
