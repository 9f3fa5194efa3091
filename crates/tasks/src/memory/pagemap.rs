//! Which pages of a process are present: /proc/PID/pagemap.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// Regions that one call of the kernel answers with.
const REGIONS: usize = 512;

/// Entries of the file read at once; each describes a page.
const ENTRIES: usize = 8192;

/// /proc/PID/pagemap of a process, open.
#[derive(Debug)]
pub(super) struct Pagemap {
    file: File,
    page: u64,
    /// Whether the kernel may know PAGEMAP_SCAN (Linux 6.7), which skips absent pages quickly.
    scans: Cell<bool>,
}

impl Pagemap {
    pub(super) fn new(file: File) -> Pagemap {
        Pagemap { file, page: rustix::param::page_size() as u64, scans: Cell::new(true) }
    }

    /// Bytes of a page.
    pub(super) fn page(&self) -> u64 {
        self.page
    }

    /// Adds to `runs` the next pages of `range` that are present or swapped, and returns the end of the part that it looked at.
    pub(super) fn present(&self, range: &Range<u64>, runs: &mut Vec<Range<u64>>) -> io::Result<u64> {
        if self.scans.get() {
            match scan(&self.file, range, runs) {
                Ok(end) if end > range.start => return Ok(end),
                _ => self.scans.set(false),
            }
        }
        self.read_entries(range, runs)
    }

    fn read_entries(&self, range: &Range<u64>, runs: &mut Vec<Range<u64>>) -> io::Result<u64> {
        let pages =
            usize::try_from((range.end - range.start).div_ceil(self.page)).map_or(ENTRIES, |all| all.min(ENTRIES));
        let mut entries = vec![0; pages * 8];
        let read = self.file.read_at(&mut entries, range.start / self.page * 8)?;
        if read < 8 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut at = range.start;
        for entry in entries[..read].chunks_exact(8) {
            // Bit 63: present. Bit 62: swapped.
            if entry[7] >> 6 != 0 {
                push(runs, at..at + self.page);
            }
            at += self.page;
        }
        Ok(at)
    }
}

/// Adds a run to `runs`, or lengthens the last one if it ends there.
fn push(runs: &mut Vec<Range<u64>>, run: Range<u64>) {
    match runs.last_mut() {
        Some(last) if last.end == run.start => last.end = run.end,
        _ => runs.push(run),
    }
}

/// The kernel's `struct pm_scan_arg`.
#[repr(C)]
#[derive(Default)]
struct ScanArgument {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    regions: u64,
    regions_length: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// The kernel's `struct page_region`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

/// `_IOWR('f', 16, struct pm_scan_arg)`
const PAGEMAP_SCAN: u32 = 3 << 30 | (size_of::<ScanArgument>() as u32) << 16 | (b'f' as u32) << 8 | 16;

const PRESENT: u64 = 1 << 3;
const SWAPPED: u64 = 1 << 4;
/// The page of zeros that the kernel maps for memory that was only read.
const ZERO: u64 = 1 << 5;

fn scan(pagemap: &File, range: &Range<u64>, runs: &mut Vec<Range<u64>>) -> io::Result<u64> {
    let mut regions = [Region::default(); REGIONS];
    let mut argument = ScanArgument {
        size: size_of::<ScanArgument>() as u64,
        start: range.start,
        end: range.end,
        regions: regions.as_mut_ptr().addr() as u64,
        regions_length: REGIONS as u64,
        category_inverted: ZERO,
        category_mask: ZERO,
        category_anyof_mask: PRESENT | SWAPPED,
        return_mask: PRESENT | SWAPPED,
        ..ScanArgument::default()
    };
    regions.as_mut_ptr().expose_provenance();
    // SAFETY: the kernel reads and writes `argument`, of the size that it names, and writes at most REGIONS entries of
    // `regions`. Both live until it returns.
    let found = unsafe { libc::ioctl(pagemap.as_raw_fd(), PAGEMAP_SCAN as _, &raw mut argument) };
    let found = usize::try_from(found).map_err(|_| io::Error::last_os_error())?;
    for region in &regions[..found.min(REGIONS)] {
        if range.start <= region.start && region.start < region.end && region.end <= range.end {
            push(runs, region.start..region.end);
        }
    }
    Ok(argument.walk_end.min(range.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 64 pages of which three have been written.
    fn sparse() -> (memmap2::MmapMut, Range<u64>, u64) {
        let page = rustix::param::page_size();
        let mut map = memmap2::MmapMut::map_anon(64 * page).unwrap();
        map.advise(memmap2::Advice::NoHugePage).unwrap();
        for index in [3, 4, 60] {
            map[index * page] = 1;
        }
        let start = map.as_ptr().addr() as u64;
        (map, start..start + 64 * page as u64, page as u64)
    }

    #[test]
    fn both_ways_find_the_pages_that_were_written() {
        let (_map, range, page) = sparse();
        for scans in [true, false] {
            let pagemap = Pagemap::new(File::open("/proc/self/pagemap").unwrap());
            pagemap.scans.set(scans);
            let mut runs = Vec::new();
            let mut at = range.start;
            while at < range.end {
                at = pagemap.present(&(at..range.end), &mut runs).unwrap();
            }
            let pages: Vec<Range<u64>> =
                runs.iter().map(|run| (run.start - range.start) / page..(run.end - range.start) / page).collect();
            assert_eq!(pages, [3..5, 60..61], "with PAGEMAP_SCAN: {scans}");
        }
    }
}
