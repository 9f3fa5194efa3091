//! Finds a runtime's own list of its tasks, without debug information, by the shape of its words.
//!
//! tokio's `OwnedTasks` has an array of lists, the array's length (a power of 2), that length less 1, the count of
//! tasks, since some version also the count of tasks ever added, and the number that the tasks name as their owner. The
//! compiler orders these words, but leaves structures whole: the array is at one end, the number next to the other
//! words.

use std::cell::Cell;
use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use crate::cell::ALIGNMENT;
use crate::memory::{Memory, word_at};

/// Where a scheduler's memory begins after its counts of references, and how much of it is searched.
const SCHEDULER: usize = 16 << 10;

/// Bytes read at once of a scheduler, so that memory beyond its end need not be readable.
const STEP: usize = 512;

/// Readings of a list that the program is changing, at most.
const TRIES: usize = 5;

/// Between two of them: the thread that changes the list may have lost its processor.
const PAUSE: Duration = Duration::from_micros(100);

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

/// The work left for a search of lists in all schedulers, which bounds its time: damaged memory can have much that looks like lists.
#[derive(Debug)]
pub struct Budget {
    /// Bytes of lists.
    bytes: Cell<u64>,
    /// Pauses, after which it tries again at once.
    pauses: Cell<u32>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { bytes: Cell::new(1 << 28), pauses: Cell::new(2000) }
    }
}

impl Budget {
    /// Whether the search has to end.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.bytes.get() == 0
    }

    fn takes(&self, bytes: u64) -> bool {
        let left = self.bytes.get().checked_sub(bytes);
        self.bytes.set(left.unwrap_or(0));
        left.is_some()
    }

    fn pause(&self) {
        if let Some(left) = self.pauses.get().checked_sub(1) {
            self.pauses.set(left);
            thread::sleep(PAUSE);
        }
    }
}

impl OwnedTasks {
    /// Finds the list of the runtime `owner` in the scheduler at `scheduler`, to which its tasks point. `is_task` says
    /// whether a task's cell is at an address. Takes its work from `budget`.
    #[must_use]
    pub fn find(
        memory: &dyn Memory,
        scheduler: u64,
        owner: u64,
        is_task: impl Fn(u64) -> bool,
        budget: &Budget,
    ) -> Option<OwnedTasks> {
        let words = words(memory, scheduler);
        // With and without the count of tasks ever added.
        let counting = [5, 4].into_iter().flat_map(|width| shapes(&words, width, scheduler, owner));
        let shapes: Vec<OwnedTasks> = counting.chain(local(&words, scheduler, owner)).collect();
        let ends = |shape: &OwnedTasks| shape.settled(memory, budget).map(|lists| ends(&lists));
        let has_task = |ends: Ends| ends.first.iter().chain(&ends.last).any(|task| is_task(*task));
        // Other words may look like an empty list. They are taken for it only if there is no list with tasks.
        let with_tasks = shapes.iter().find(|shape| ends(shape).is_some_and(has_task));
        let empty = || shapes.iter().find(|shape| ends(shape).is_some() && shape.count(memory) == Some(0));
        with_tasks.or_else(empty).cloned()
    }

    /// Whether a runtime of one thread has it. `None` if that is not known: of a `LocalSet`.
    #[must_use]
    pub fn is_of_one_thread(&self) -> Option<bool> {
        self.count.map(|_| self.length == 1)
    }

    /// Returns the runtime's count of its tasks.
    #[must_use]
    pub fn count(&self, memory: &dyn Memory) -> Option<u64> {
        memory.word(self.count?).ok()
    }

    /// Returns the memory of the array, whose words lead to the first and last tasks.
    pub(crate) fn lists(&self) -> std::ops::Range<u64> {
        self.lists..self.lists.saturating_add(self.length.saturating_mul(LIST as u64))
    }

    /// Reads the ends of all lists. `None` if they cannot be read.
    #[must_use]
    pub fn ends(&self, memory: &dyn Memory) -> Option<Ends> {
        Some(ends(&self.read(memory)?))
    }

    /// Returns the lists if they are lists of tasks. The program may be changing them, so they are read again if only that can be why they
    /// are not.
    fn settled(&self, memory: &dyn Memory, budget: &Budget) -> Option<Vec<u8>> {
        for number in 0..TRIES {
            if number > 0 {
                budget.pause();
            }
            if !budget.takes(self.length.saturating_mul(LIST as u64)) {
                return None;
            }
            let lists = self.read(memory)?;
            if !lists.chunks_exact(LIST).all(may_be_list) {
                return None;
            }
            if lists.chunks_exact(LIST).all(has_both_ends) {
                return Some(lists);
            }
        }
        None
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

/// Whether a list begins and ends with tasks, or is empty. tokio changes both ends one after the other.
fn has_both_ends(list: &[u8]) -> bool {
    let (first, last) = both_ends(list);
    (first == 0) == (last == 0)
}

/// Whether tasks can be where a list begins and ends. That does not change.
fn may_be_list(list: &[u8]) -> bool {
    let (first, last) = both_ends(list);
    (first | last).is_multiple_of(ALIGNMENT as u64)
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
    windows.filter_map(|(start, window)| shape(window, address.wrapping_add(start as u64 * 8))).collect()
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
    let lists = |start: usize| address.wrapping_add(start as u64 * 8).checked_sub(8);
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
    Some(OwnedTasks { lists, length, count: Some(address.wrapping_add(count as u64 * 8)) })
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
        let owned = OwnedTasks::find(&memory, AT, 7, |task| task == 0x1080, &Budget::default()).unwrap();
        assert_eq!(owned.count(&memory), Some(3));
        let ends = owned.ends(&memory).unwrap();
        assert_eq!(ends.first, HashSet::from([0x1000, 0x2000]));
        assert_eq!(ends.last, HashSet::from([0x1080, 0x2000]));
        assert_eq!(OwnedTasks::find(&memory, AT, 7, |_| false, &Budget::default()), None);
        assert_eq!(OwnedTasks::find(&memory, 0x9000, 7, |_| true, &Budget::default()), None);
    }

    #[test]
    fn finds_the_list_of_a_local_set() {
        let mut scheduler = vec![0; 64];
        scheduler[20..24].copy_from_slice(&[0x1000, 0x1080, 0x5500, 7]);
        let memory = Words(vec![(AT, scheduler)]);
        let owned = OwnedTasks::find(&memory, AT, 7, |task| task == 0x1000, &Budget::default()).unwrap();
        let ends = owned.ends(&memory).unwrap();
        assert_eq!((ends.first, ends.last), (HashSet::from([0x1000]), HashSet::from([0x1080])));
        assert_eq!(owned.count(&memory), None);
        assert_eq!(OwnedTasks::find(&memory, AT, 8, |_| true, &Budget::default()), None);
    }

    /// A list whose last task follows later, and the number of its readings.
    struct Changing(Cell<u64>, u64);

    impl Memory for Changing {
        fn read(&self, _: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
            self.0.set(self.0.get() + 1);
            let last = if self.0.get() < self.1 { 0 } else { 0x1000 };
            let list: Vec<u8> = [0_u64, 0x1000, last].iter().flat_map(|word| word.to_le_bytes()).collect();
            bytes.copy_from_slice(&list);
            Ok(())
        }
    }

    #[test]
    fn a_list_that_changes_is_read_again_and_not_for_ever() {
        let list = OwnedTasks { lists: LISTS, length: 1, count: None };
        let read = |until, budget: &Budget| {
            let memory = Changing(Cell::new(0), until);
            (list.settled(&memory, budget).is_some(), memory.0.get())
        };
        let budget = Budget::default();
        assert_eq!(
            [read(1, &budget), read(4, &budget), read(99, &budget)],
            [(true, 1), (true, 4), (false, TRIES as u64)]
        );
        assert_eq!(budget.pauses.get(), 2000 - 3 - 4);
        let poor = Budget { bytes: Cell::new(2 * LIST as u64), pauses: Cell::new(0) };
        assert_eq!(read(99, &poor), (false, 2));
        assert!(poor.is_spent());
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
