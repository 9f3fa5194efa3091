//! Which words can wake a task that waits: what is left on stacks and in queues of an earlier poll cannot.
//!
//! A task counts its references: one is that of its runtime's list, each `Waker` and each handle is one. If the memory of the task itself
//! and what it leads to have that many wakers of it, there is no other one, and a word elsewhere that has the task's address is an old copy.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::reach::{Block, From, Heaps};
use crate::cell::{COMPLETE, JOIN_INTEREST, NOTIFIED, RUNNING, references};
use crate::census::CensusTask;
use crate::image::contain;
use crate::memory::Memory;
use crate::program::Program;
use crate::reading::Described;

/// Blocks of one task that are looked at, at most.
const MOST: usize = 256;

/// Tells of the blocks that are cells of tasks which of their words count.
pub(super) struct Wakers<'a, 'd> {
    pub program: &'a Program,
    pub described: &'a Described<'d>,
    pub tasks: &'a [CensusTask],
    /// Places of tasks by their addresses.
    pub cells: &'a HashMap<u64, usize>,
    /// The code of all images.
    pub code: Vec<Range<u64>>,
    /// The parts of stacks that are in use.
    pub stacks: Vec<Range<u64>>,
    /// Whether a word is the address of four functions, as a waker has it.
    pub tables: RefCell<HashMap<u64, bool>>,
    /// Tasks whose references are all known, by their addresses.
    pub known: RefCell<HashMap<u64, bool>>,
}

impl Wakers<'_, '_> {
    fn task(&self, address: u64) -> Option<&CensusTask> {
        self.cells.get(&address).map(|place| &self.tasks[*place])
    }

    /// Returns whether the word at an address of the block at `address` has a value: of cells, as their types tell.
    pub fn live(&self, heaps: &Heaps, address: u64) -> impl Fn(u64) -> bool + use<> {
        let task = self.task(address);
        let state = task.and_then(|task| self.program.state(heaps, task));
        let mut live = Vec::new();
        let described = task.filter(|_| state.is_some_and(|state| state & RUNNING == 0)).and_then(|task| {
            self.described.live(self.program, heaps, (task.vtable, task.address), |part| live.push(part))
        });
        move |at| match &described {
            Some(whole) if whole.contains(&at) => live.iter().any(|part| part.start < at + 8 && at < part.end),
            _ => true,
        }
    }

    /// Whether a word that leads to the block at `address` counts. One that leads to a cell may be an old copy.
    pub fn counts(&self, heaps: &Heaps, address: u64, word: u64, from: &From) -> bool {
        let Some(task) = self.task(address) else { return true };
        match *from {
            From::Memory => true,
            From::Stack => !self.are_known(heaps, task),
            From::Block(heap, place) => {
                word != address || self.is_waker(heaps, (heap, place)) || !self.are_known(heaps, task)
            }
        }
    }

    /// Whether the word beside the one at `place` is that of a waker's functions.
    fn is_waker(&self, heaps: &Heaps, (heap, place): (usize, usize)) -> bool {
        let words = &heaps.0[heap].words;
        [place.wrapping_sub(1), place + 1]
            .iter()
            .filter_map(|beside| words.get(*beside))
            .any(|word| self.is_table(*word))
    }

    fn is_table(&self, word: u64) -> bool {
        if word < 4096 || !word.is_multiple_of(8) {
            return false;
        }
        *self.tables.borrow_mut().entry(word).or_insert_with(|| {
            let mut functions = [0; 32];
            let read = self.program.memory().read(word, &mut functions).is_ok();
            let mut functions = functions.as_chunks::<8>().0.iter().map(|function| u64::from_le_bytes(*function));
            read && functions.all(|function| contain(&self.code, function))
        })
    }

    /// Whether the task waits, and its own memory and what it leads to have all wakers that it counts.
    fn are_known(&self, heaps: &Heaps, task: &CensusTask) -> bool {
        if let Some(known) = self.known.borrow().get(&task.address) {
            return *known;
        }
        let known = self.have_all(heaps, task).unwrap_or(false);
        self.known.borrow_mut().insert(task.address, known);
        known
    }

    fn have_all(&self, heaps: &Heaps, task: &CensusTask) -> Option<bool> {
        let state = self.program.state(heaps, task)?;
        if task.owner == 0 || state & (RUNNING | NOTIFIED | COMPLETE | JOIN_INTEREST) != 0 {
            return None;
        }
        let vtable = &self.program.vtables()[task.vtable as usize];
        let own = heaps.block(task.address)?;
        let runtime = heaps.block(task.scheduler);
        let (mut seen, mut open) = (HashSet::from([own]), Vec::<Block>::from([own]));
        let mut found = 0;
        while let Some((heap, block)) = open.pop() {
            let begin = heaps.0[heap].start + block as u64 * 8;
            let is_live = if (heap, block) == own { Some(self.live(heaps, begin)) } else { None };
            let words = (begin..).step_by(8).zip(block..).zip(heaps.0[heap].content(block));
            let words = words.filter(|((at, _), _)| *at != task.address + vtable.scheduler);
            let words = words.filter(|((at, _), _)| is_live.as_ref().is_none_or(|is_live| is_live(*at)));
            let (before, mut leads_to_stack) = (found, false);
            for ((_, place), word) in words {
                leads_to_stack |= self.stacks.iter().any(|stack| stack.contains(word));
                found += u64::from(*word == task.address && self.is_waker(heaps, (heap, place)));
                let Some(led) = heaps.block(*word).filter(|led| Some(*led) != runtime) else { continue };
                let is_other = self.cells.contains_key(&heaps.address(led));
                if !is_other && seen.len() < MOST && seen.insert(led) {
                    open.push(led);
                }
            }
            // A lock or an event on a stack has the address of a part of the future, which has the waker.
            if leads_to_stack && (heap, block) == own && found > before {
                return None;
            }
        }
        Some(found >= references(state).checked_sub(1)?)
    }
}
