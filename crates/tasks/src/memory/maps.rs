//! The mappings of a process: /proc/PID/maps.

use std::ops::Range;
use std::sync::Arc;

/// MAP_HUGETLB memory has a file by this name.
pub(super) const HUGE: &str = "/anon_hugepage";

/// A mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// Its addresses.
    pub range: Range<u64>,
    /// Whether the process may read it.
    pub readable: bool,
    /// Whether the process may write it.
    pub writable: bool,
    /// Whether the process may execute it.
    pub executable: bool,
    /// Whether other processes see writes to it.
    pub shared: bool,
    /// Where in its file it begins.
    pub offset: u64,
    /// Major and minor number of its file's device.
    pub device: (u32, u32),
    /// The number of its file, 0 without one.
    pub inode: u64,
    /// Its file, `[heap]` and the like, or empty. The kernel writes a newline as `\012`. Neighbours share it.
    pub path: Arc<str>,
}

impl Mapping {
    /// Whether allocators may have it from the kernel: private, writable, of no file, and not the main thread's stack.
    #[must_use]
    pub fn is_heap(&self) -> bool {
        let anonymous =
            self.inode == 0 && (self.path.is_empty() || &*self.path == "[heap]" || self.path.starts_with("[anon"));
        let huge = self.path.starts_with(HUGE);
        self.readable && self.writable && !self.shared && (anonymous || huge)
    }
}

/// The mappings of files, in an order in which a part of a file is found by bisection: a program may have a million mappings.
#[derive(Debug)]
pub struct ByFile<'m>(Vec<&'m Mapping>);

/// A part of a file: path, inode, whether it is executable, and offset.
type Part<'m> = (&'m str, u64, bool, u64);

impl<'m> ByFile<'m> {
    /// Sorts the mappings of files among `maps`.
    #[must_use]
    pub fn new(maps: &'m [Mapping]) -> ByFile<'m> {
        let mut files: Vec<&Mapping> = maps.iter().filter(|map| map.path.starts_with('/')).collect();
        files.sort_unstable_by_key(|map| (part(map), map.range.start));
        ByFile(files)
    }

    /// Returns the mapping of each file that is the first of its executable ones, in the order of paths.
    #[must_use]
    pub fn executables(&self) -> Vec<&'m Mapping> {
        let mut files: Vec<&Mapping> = self.0.iter().copied().filter(|map| map.executable).collect();
        files.dedup_by_key(|map| (&map.path, map.inode));
        files
    }

    /// Returns the path and the inode of each file, in order.
    pub fn files(&self) -> impl Iterator<Item = (&'m str, u64)> {
        let is_other = |[one, next]: [&Mapping; 2]| (&one.path, one.inode) != (&next.path, next.inode);
        let others = self.0.windows(2).filter(move |pair| is_other([pair[0], pair[1]])).map(|pair| pair[1]);
        self.0.first().copied().into_iter().chain(others).map(|map| (&*map.path, map.inode))
    }

    /// Returns the number of the file that is mapped at `path`; the lowest one of several.
    #[must_use]
    pub fn inode(&self, path: &str) -> Option<u64> {
        let first = self.0.partition_point(|map| *map.path < *path);
        self.0.get(first).filter(|map| *map.path == *path).map(|map| map.inode)
    }

    /// Returns the mapping of this part of a file at the lowest address.
    #[must_use]
    pub fn get(&self, path: &str, inode: u64, executable: bool, offset: u64) -> Option<&'m Mapping> {
        let wanted = (path, inode, executable, offset);
        let first = self.0.partition_point(|map| part(map) < wanted);
        self.0.get(first).copied().filter(|map| part(map) == wanted)
    }
}

fn part(map: &Mapping) -> Part<'_> {
    (&map.path, map.inode, map.executable, map.offset)
}

/// Parses /proc/PID/maps. Skips lines that it does not understand.
#[must_use]
pub fn parse(maps: &[u8]) -> Vec<Mapping> {
    let mut path = Arc::default();
    String::from_utf8_lossy(maps).lines().filter_map(|one| line(one, &mut path)).collect()
}

/// `START-END rwxp OFFSET DEVICE INODE   PATH`. `last` is the path of the line before, and then of this one.
fn line(line: &str, last: &mut Arc<str>) -> Option<Mapping> {
    let mut rest = line;
    let mut field = || {
        let (field, after) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = after;
        field
    };
    let (start, end) = field().split_once('-')?;
    let range = hex(start)?..hex(end)?;
    let &[read, write, execute, shared] = field().as_bytes() else { return None };
    let offset = hex(field())?;
    let (major, minor) = field().split_once(':')?;
    let device = (u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?);
    let inode = field().parse().ok()?;
    let path = rest.trim_start_matches(' ');
    if **last != *path {
        *last = path.into();
    }
    (range.start < range.end).then(|| Mapping {
        range,
        readable: read == b'r',
        writable: write == b'w',
        executable: execute == b'x',
        shared: shared == b's',
        offset,
        device,
        inode,
        path: Arc::clone(last),
    })
}

fn hex(digits: &str) -> Option<u64> {
    // `from_str_radix` would take a sign.
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u64::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAPS: &str = "\
55e0a0000000-55e0a0001000 r-xp 00002000 fe:01 1234                       /opt/a b/program (deleted)
55e0a1000000-55e0a1021000 rw-p 00000000 00:00 0                          [heap]
7f0000000000-7f0000021000 rw-p 00000000 00:00 0 
7f0000021000-7f0004000000 ---p 00000000 00:00 0 
7f0010000000-7f0010001000 rw-s 00000000 00:01 55                         /memfd:x (deleted)
7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
";

    #[test]
    fn parses_what_the_kernel_writes() {
        let maps = parse(MAPS.as_bytes());
        assert_eq!(maps.len(), 7);
        assert_eq!(&*maps[0].path, "/opt/a b/program (deleted)");
        assert_eq!((maps[0].offset, maps[0].inode, maps[0].executable), (0x2000, 1234, true));
        assert_eq!(maps[0].device, (0xfe, 1));
        let heaps: Vec<u64> = maps.iter().filter(|map| map.is_heap()).map(|map| map.range.start).collect();
        assert_eq!(heaps, [0x55e0_a100_0000, 0x7f00_0000_0000]);
    }

    #[test]
    fn parts_of_many_mappings_are_found() {
        let map = |number: u64| Mapping {
            range: number * 4096..(number + 1) * 4096,
            executable: number.is_multiple_of(2),
            offset: number / 4 * 4096,
            inode: 1 + number % 2,
            path: format!("/lib/{}", number % 4).into(),
            ..parse(MAPS.as_bytes())[0].clone()
        };
        // A search that looked through all of them for each would take hours.
        let maps: Vec<Mapping> = (0..100_000).map(map).collect();
        let files = ByFile::new(&maps);
        for map in &maps {
            assert_eq!(files.get(&map.path, map.inode, map.executable, map.offset), Some(map));
        }
        assert_eq!(files.get("/lib/0", 1, false, 0), None);
        assert_eq!((files.inode("/lib/3"), files.inode("/lib")), (Some(2), None));
        let executables: Vec<&str> = files.executables().iter().map(|map| &*map.path).collect();
        assert_eq!(executables, ["/lib/0", "/lib/2"]);
    }

    #[test]
    fn skips_lines_that_end_early() {
        assert_eq!(parse(b"1000-2000\n1000 r--p 0 0:0 0\n2000-1000 r--p 0 0:0 0\n-1-+2 r--p 0 0:0 0\n\xff\n"), []);
    }

    proptest! {
        #[test]
        fn never_panics(bytes: Vec<u8>, at in 0..MAPS.len(), byte: u8) {
            let _ = parse(&bytes);
            let mut maps = MAPS.as_bytes().to_vec();
            maps[at] = byte;
            let _ = parse(&maps);
            let _ = parse(&maps[..at]);
        }
    }
}
