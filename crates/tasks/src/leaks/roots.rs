//! The words from which the search begins: of threads, of the kernel, and of all memory that no heap has.

use std::fs;
use std::ops::Range;

use super::heap::{self, ALIGNED};
use crate::census;
use crate::error::Error;
use crate::kernel;
use crate::memory::Memory;
use crate::memory::live::Process;
use crate::memory::maps::Mapping;
use crate::memory::source::Present;
use crate::threads::{Words, words};

/// Where heaps are: the first one, then further ones, in the order of their addresses.
pub(super) struct Ranges {
    pub all: Vec<(Range<u64>, bool)>,
}

impl Ranges {
    /// Finds the heaps of glibc's allocator among the mappings.
    pub fn of(memory: &dyn Memory, maps: &[Mapping]) -> Ranges {
        let first = maps.iter().filter(|map| &*map.path == "[heap]" && map.is_heap());
        let first = first.fold(None, |heap: Option<Range<u64>>, map| match heap {
            Some(heap) if heap.end == map.range.start => Some(heap.start..map.range.end),
            heap => heap.or_else(|| Some(map.range.clone())),
        });
        let further = maps.iter().filter(|map| map.is_heap() && &*map.path != "[heap]").flat_map(|map| {
            let begins = (map.range.start.next_multiple_of(ALIGNED)..map.range.end).step_by(ALIGNED as usize);
            begins.filter_map(|at| {
                let words = [memory.word(at).ok()?, memory.word(at + 8).ok()?, memory.word(at + 16).ok()?];
                heap::further(at, words).filter(|heap| heap.end <= map.range.end)
            })
        });
        let mut all: Vec<(Range<u64>, bool)> =
            first.map(|heap| (heap, false)).into_iter().chain(further.map(|heap| (heap, true))).collect();
        all.sort_unstable_by_key(|(heap, _)| heap.start);
        Ranges { all }
    }

    pub fn contain(&self, word: u64) -> bool {
        let after = self.all.partition_point(|(heap, _)| heap.start <= word);
        after > 0 && self.all[after - 1].0.contains(&word)
    }

    /// Whether a word leads into the first heap.
    fn is_first(&self, word: u64) -> bool {
        self.all.iter().any(|(heap, is_further)| !is_further && heap.contains(&word))
    }
}

/// Reads the registers and the stack of each thread, one after the other. A thread that cannot be held is added to `gaps`.
pub(super) fn threads(process: &Process, gaps: &mut Vec<String>) -> Vec<Words> {
    let threads = kernel::threads(process);
    if threads.is_empty() {
        gaps.push("its threads cannot be listed".to_owned());
    }
    let read = |tid| match words(process, tid) {
        Ok(words) => words,
        Err(reason) => {
            gaps.push(format!("thread {tid} could not be held, and its registers were not read: {reason}"));
            None
        }
    };
    threads.into_iter().filter_map(read).collect()
}

/// Returns the words that only the kernel has: with descriptors that an epoll watches, and with timers. Words that it keeps for
/// `io_uring` and asynchronous I/O cannot be read: `gaps` gets a sentence's part for each.
pub(super) fn of_kernel(process: &Process, maps: &[Mapping], gaps: &mut Vec<String>) -> Vec<u64> {
    let mut words = Vec::new();
    let Ok(descriptors) = fs::read_dir(process.proc("fd")) else {
        gaps.push("its descriptors cannot be listed".to_owned());
        return words;
    };
    for descriptor in descriptors.flatten() {
        let link = fs::read_link(descriptor.path()).unwrap_or_default();
        match link.to_str() {
            Some("anon_inode:[eventpoll]") => {
                let file = process.proc(&format!("fdinfo/{}", descriptor.file_name().to_string_lossy()));
                words.extend(watched(&fs::read_to_string(file).unwrap_or_default()));
            }
            Some("anon_inode:[io_uring]") => {
                gaps.push("the kernel may keep the only address of a task with an operation of io_uring".to_owned());
            }
            _ => {}
        }
    }
    if maps.iter().any(|map| map.path.starts_with("/[aio]")) {
        gaps.push("the kernel may keep the only address of a task with an asynchronous read or write".to_owned());
    }
    // Kernels without this file are rare, and so are timers with addresses.
    let timers = fs::read_to_string(format!("/proc/{}/timers", process.pid())).unwrap_or_default();
    words.extend(timed(&timers));
    words
}

/// `tfd: 5 events: 19 data: 7f1234 ...`
fn watched(text: &str) -> impl Iterator<Item = u64> {
    text.lines().filter_map(|line| {
        let data = line.strip_prefix("tfd:")?.split_once("data:")?.1;
        u64::from_str_radix(data.split_whitespace().next()?, 16).ok()
    })
}

/// `signal: 60/00007fff86e452a8`
fn timed(text: &str) -> impl Iterator<Item = u64> {
    text.lines().filter_map(|line| {
        let value = line.strip_prefix("signal:")?.split_once('/')?.1;
        u64::from_str_radix(value.trim(), 16).ok()
    })
}

/// Reads all memory that may have addresses and is in no heap, and returns its words that lead into a heap. Of the stacks of `threads` it
/// leaves out what was read with them, and what is free.
pub(super) fn of_memory(
    present: &mut Present<'_>,
    maps: &[Mapping],
    ranges: &Ranges,
    threads: &[Words],
) -> Result<Vec<u64>, Error> {
    let own: Vec<&Mapping> = maps.iter().filter(|map| map.is_heap()).collect();
    let mut pointers: Vec<u64> = threads.iter().map(|thread| thread.pointer).collect();
    pointers.sort_unstable();
    let mut left_out = ranges.all.iter().map(|(heap, _)| heap.clone()).collect::<Vec<_>>();
    let stacks = census::stacks(present, &own, &pointers)?;
    let main = maps.iter().filter(|map| &*map.path == "[stack]").map(|map| map.range.clone());
    for stack in stacks.into_iter().chain(main) {
        for thread in threads.iter().filter(|thread| stack.contains(&thread.pointer)) {
            // Below a stack is a page without permissions.
            let map = maps.iter().find(|map| map.range.contains(&thread.pointer));
            left_out.extend(map.map(|map| stack.start.max(map.range.start)..thread.read.end.min(stack.end)));
        }
    }
    left_out.sort_unstable_by_key(|range| range.start);
    let mut found = Vec::new();
    let mut words = Vec::new();
    for map in maps.iter().filter(|map| may_have_addresses(map)) {
        for range in without(&map.range, &left_out) {
            present.read(&range, |address, bytes| {
                words.clear();
                words.extend(bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)));
                if map.inode != 0 || map.path.is_empty() {
                    heap::forget_free(address, &mut words, |word| ranges.is_first(word));
                }
                found.extend(words.iter().copied().filter(|word| ranges.contain(*word)));
            })?;
        }
    }
    Ok(found)
}

/// Code and constants have no addresses of blocks. Memory that the program may not write at present may have been writable.
fn may_have_addresses(map: &Mapping) -> bool {
    let is_kernels = ["[vvar", "[vdso", "[vsyscall"].iter().any(|name| map.path.starts_with(name));
    map.readable && !is_kernels && (map.writable || (map.inode == 0 && !map.executable))
}

/// Returns `range` without those of `others`, which are in order.
fn without(range: &Range<u64>, others: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut parts = Vec::new();
    let mut at = range.start;
    for other in others.iter().filter(|other| other.start < range.end && other.end > range.start) {
        if other.start > at {
            parts.push(at..other.start);
        }
        at = at.max(other.end);
    }
    if at < range.end {
        parts.push(at..range.end);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_the_kernel_keeps_are_parsed() {
        let epoll =
            "pos:\t0\ntfd:        5 events: 80000019 data:     7f12345678a0  pos:0 ino:61af sdev:7\ntfd: 6 events: 1\n";
        assert_eq!(watched(epoll).collect::<Vec<_>>(), [0x7f12_3456_78a0]);
        let timers = "ID: 1\nsignal: 60/00007fff86e452a8\nnotify: signal/pid.2634\nClockID: 0\n";
        assert_eq!(timed(timers).collect::<Vec<_>>(), [0x7fff_86e4_52a8]);
    }

    #[test]
    fn a_range_without_others() {
        assert_eq!(without(&(10..20), &[0..5, 8..11, 13..15, 14..16, 19..30, 40..50]), [11..13, 16..19]);
        assert_eq!(without(&(10..20), &[0..10, 30..50]).first(), Some(&(10..20)));
        assert_eq!(without(&(10..20), &[0..15, 15..50]), []);
    }
}
