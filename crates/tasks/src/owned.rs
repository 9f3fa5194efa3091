//! Finds a runtime's own list of its tasks, without debug information, by the shape of its words.
//!
//! tokio's `OwnedTasks` has an array of lists, the array's length (a power of 2), that length less 1, the count of
//! tasks, since some version also the count of tasks ever added, and the number that the tasks name as their owner. The
//! compiler orders these words, but leaves structures whole: the array is at one end, the number next to the other
//! words.

use std::collections::HashSet;

use crate::cell::ALIGNMENT;
use crate::memory::{Memory, word_at};

/// Where a scheduler's memory begins after its counts of references, and how much of it is searched.
const SCHEDULER: usize = 16 << 10;

/// Bytes read at once of a scheduler, so that memory beyond its end need not be readable.
const STEP: usize = 512;

/// The largest array, as tokio has it.
const MOST_LISTS: u64 = 1 << 16;

/// A lock, then the first and the last task.
const LIST: usize = 24;

/// A runtime's list of tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedTasks {
    /// Of the array.
    lists: u64,
    /// Its length.
    length: u64,
    /// Where the count of tasks is. A `LocalSet` does not count.
    count: Option<u64>,
}

/// The first and last tasks of a runtime's lists.
#[derive(Debug, Default)]
pub struct Ends {
    /// Tasks before which there is none.
    pub first: HashSet<u64>,
    /// Tasks after which there is none.
    pub last: HashSet<u64>,
}

impl OwnedTasks {
    /// Finds the list of the runtime `owner` in the scheduler at `scheduler`, to which its tasks point. `is_task` says
    /// whether a task's cell is at an address.
    #[must_use]
    pub fn find(memory: &dyn Memory, scheduler: u64, owner: u64, is_task: impl Fn(u64) -> bool) -> Option<OwnedTasks> {
        let words = words(memory, scheduler);
        // With and without the count of tasks ever added.
        let counting = [5, 4].into_iter().flat_map(|width| shapes(&words, width, scheduler, owner));
        let shapes: Vec<OwnedTasks> = counting.chain(local(&words, scheduler, owner)).collect();
        let ends = |shape: &OwnedTasks| shape.ends(memory).filter(|_| shape.are_lists(memory));
        let has_task = |ends: Ends| ends.first.iter().chain(&ends.last).any(|task| is_task(*task));
        // Other words may look like an empty list. They are taken for it only if there is no list with tasks.
        let with_tasks = shapes.iter().find(|shape| ends(shape).is_some_and(has_task));
        let empty = || shapes.iter().find(|shape| ends(shape).is_some() && shape.count(memory) == Some(0));
        with_tasks.or_else(empty).cloned()
    }

    /// Returns the runtime's count of its tasks.
    #[must_use]
    pub fn count(&self, memory: &dyn Memory) -> Option<u64> {
        memory.word(self.count?).ok()
    }

    /// Reads the ends of all lists. `None` if they cannot be read.
    #[must_use]
    pub fn ends(&self, memory: &dyn Memory) -> Option<Ends> {
        Some(ends(&self.read(memory)?))
    }

    /// Whether the lists are lists of tasks. Read several times, since the program may be changing them.
    fn are_lists(&self, memory: &dyn Memory) -> bool {
        const TRIES: usize = 5;
        (0..TRIES).any(|_| self.read(memory).is_some_and(|lists| lists.chunks_exact(LIST).all(is_list)))
    }

    fn read(&self, memory: &dyn Memory) -> Option<Vec<u8>> {
        let mut lists = vec![0; usize::try_from(self.length).ok()? * LIST];
        memory.read(self.lists, &mut lists).ok()?;
        Some(lists)
    }
}

/// Returns the first and the last task of a list.
fn both_ends(list: &[u8]) -> (u64, u64) {
    (word_at(list, 8).unwrap_or(0), word_at(list, 16).unwrap_or(0))
}

fn is_list(list: &[u8]) -> bool {
    let (first, last) = both_ends(list);
    (first == 0) == (last == 0) && (first | last).is_multiple_of(ALIGNMENT as u64)
}

fn ends(lists: &[u8]) -> Ends {
    let mut ends = Ends::default();
    for (first, last) in lists.chunks_exact(LIST).map(both_ends) {
        ends.first.insert(first);
        ends.last.insert(last);
    }
    ends.first.remove(&0);
    ends.last.remove(&0);
    ends
}

fn words(memory: &dyn Memory, address: u64) -> Vec<u64> {
    let mut words = Vec::with_capacity(SCHEDULER / 8);
    let mut bytes = [0; STEP];
    for step in 0..SCHEDULER / STEP {
        let Some(at) = address.checked_add((step * STEP) as u64) else { break };
        if memory.read(at, &mut bytes).is_err() {
            break;
        }
        words.extend(bytes.chunks_exact(8).filter_map(|word| word_at(word, 0)));
    }
    words
}

/// Returns candidates for the list of `owner`, of `width` words, in `words`, which were read from `address`.
fn shapes(words: &[u64], width: usize, address: u64, owner: u64) -> Vec<OwnedTasks> {
    let windows = words.windows(width).enumerate().filter(|(start, _)| {
        let before = start.checked_sub(1).and_then(|index| words.get(index));
        let after = words.get(start + width);
        before == Some(&owner) || after == Some(&owner)
    });
    windows.filter_map(|(start, window)| shape(window, address + start as u64 * 8)).collect()
}

/// Returns candidates for the list of the `LocalSet` `owner`: the first and the last task, then whether it is closed,
/// and before or after these the number.
fn local(words: &[u64], address: u64, owner: u64) -> Vec<OwnedTasks> {
    let is_cell = |word: u64| word != 0 && word.is_multiple_of(ALIGNMENT as u64);
    let windows = words.windows(2).enumerate().filter(|(start, window)| {
        let near = [start.checked_sub(1), Some(start + 2), Some(start + 3)];
        is_cell(window[0]) && is_cell(window[1]) && near.iter().flatten().any(|index| words.get(*index) == Some(&owner))
    });
    // The word before stands where an array of lists has locks.
    let lists = |start: usize| (address + start as u64 * 8).checked_sub(8);
    windows.filter_map(|(start, _)| Some(OwnedTasks { lists: lists(start)?, length: 1, count: None })).collect()
}

/// Returns the list that the words of `window`, from `address`, describe.
fn shape(window: &[u64], address: u64) -> Option<OwnedTasks> {
    let pointer = [0, window.len() - 2].into_iter().find(|index| {
        let (lists, length) = (window[*index], window[index + 1]);
        lists > 4096 && lists.is_multiple_of(8) && length.is_power_of_two() && length <= MOST_LISTS
    })?;
    let (lists, length) = (window[pointer], window[pointer + 1]);
    let mut others: Vec<usize> = (0..window.len()).filter(|index| *index != pointer && *index != pointer + 1).collect();
    let mask = others.iter().position(|index| window[*index] == length - 1)?;
    others.remove(mask);
    // No more tasks are in the list than were ever added.
    let count = others.into_iter().min_by_key(|index| window[*index])?;
    Some(OwnedTasks { lists, length, count: Some(address + count as u64 * 8) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::Unreadable;

    const LISTS: u64 = 0x7f00_0000_1000;
    const AT: u64 = 0x5000;

    fn count(width: usize, words: &[u64]) -> Vec<u64> {
        shapes(words, width, AT, 7).iter().map(|shape| (shape.count.unwrap() - AT) / 8).collect()
    }

    #[test]
    fn finds_the_words_in_any_order() {
        assert_eq!(count(4, &[9, LISTS, 8, 1000, 7, 7, 0]), [3]);
        assert_eq!(count(4, &[9, 7, 7, 1000, LISTS, 8, 5]), [3]);
        assert_eq!(count(4, &[0, 1000, LISTS, 8, 7, 7]), [0; 0]);
        // With the count of tasks ever added.
        assert_eq!(count(5, &[9, LISTS, 8, 5000, 1000, 7, 7]), [4]);
        // Another runtime's, a length that is no power of 2, and no mask.
        assert_eq!(count(4, &[9, LISTS, 8, 1000, 7, 6]), []);
        assert_eq!(count(4, &[9, LISTS, 9, 1000, 8, 7]), []);
        assert_eq!(count(4, &[9, LISTS, 8, 1000, 6, 7]), []);
    }

    struct Words(Vec<(u64, Vec<u64>)>);

    impl Memory for Words {
        fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
            for (start, words) in &self.0 {
                let all: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                if let Some(offset) = address.checked_sub(*start)
                    && let Some(found) = all.get(offset as usize..offset as usize + bytes.len())
                {
                    bytes.copy_from_slice(found);
                    return Ok(());
                }
            }
            Err(Unreadable { address })
        }
    }

    #[test]
    fn reads_the_ends_of_the_lists() {
        let mut scheduler = vec![0; 64];
        scheduler[10..15].copy_from_slice(&[LISTS, 2, 1, 3, 7]);
        let memory = Words(vec![(AT, scheduler), (LISTS, vec![0, 0x1000, 0x1080, 0, 0x2000, 0x2000])]);
        let owned = OwnedTasks::find(&memory, AT, 7, |task| task == 0x1080).unwrap();
        assert_eq!(owned.count(&memory), Some(3));
        let ends = owned.ends(&memory).unwrap();
        assert_eq!(ends.first, HashSet::from([0x1000, 0x2000]));
        assert_eq!(ends.last, HashSet::from([0x1080, 0x2000]));
        assert_eq!(OwnedTasks::find(&memory, AT, 7, |_| false), None);
        assert_eq!(OwnedTasks::find(&memory, 0x9000, 7, |_| true), None);
    }

    #[test]
    fn finds_the_list_of_a_local_set() {
        let mut scheduler = vec![0; 64];
        scheduler[20..24].copy_from_slice(&[0x1000, 0x1080, 0x5500, 7]);
        let memory = Words(vec![(AT, scheduler)]);
        let owned = OwnedTasks::find(&memory, AT, 7, |task| task == 0x1000).unwrap();
        let ends = owned.ends(&memory).unwrap();
        assert_eq!((ends.first, ends.last), (HashSet::from([0x1000]), HashSet::from([0x1080])));
        assert_eq!(owned.count(&memory), None);
        assert_eq!(OwnedTasks::find(&memory, AT, 8, |_| true), None);
    }

    proptest! {
        #[test]
        fn never_panics(words in proptest::collection::vec(prop_oneof![0_u64..9, any::<u64>()], 0..40), bytes: Vec<u8>) {
            shapes(&words, 4, AT, 7);
            shapes(&words, 5, AT, 7);
            local(&words, AT, 7);
            let _ = ends(&bytes);
        }
    }
}
