//! A copy of a task's cell that was the same twice, and copies of the boxes around it.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::limits;
use crate::listing::State;
use crate::memory::{Memory, Piece, Unreadable, word_at};

/// Memory in which one range is a copy, and which copies whatever is read outside it.
pub(super) struct CopiedMemory<'m> {
    memory: &'m dyn Memory,
    address: u64,
    copy: Cow<'m, [u8]>,
    /// Whether memory outside the copy may be read. The pointers of a task that runs may dangle.
    outside_too: bool,
    outside: RefCell<BTreeMap<u64, Vec<u8>>>,
    read: Cell<usize>,
    /// Whether something was read aside.
    was_aside: Cell<bool>,
}

impl<'m> CopiedMemory<'m> {
    /// Copies a task's cell twice, from its header on. Returns `None` if the copies differ. `state` is from the header to its state.
    pub fn read(memory: &'m dyn Memory, piece: Piece, state: u64) -> Result<Option<CopiedMemory<'m>>, Unreadable> {
        let mut copy = vec![0; piece.length];
        let mut again = vec![0; piece.length];
        memory.read(piece.address, &mut copy)?;
        memory.read(piece.address, &mut again)?;
        Ok(CopiedMemory::of(memory, piece, state, Cow::Owned(copy), &again))
    }

    /// Takes two copies. The task's state is at their beginning, so it was the same before the first and between them.
    pub fn of(
        memory: &'m dyn Memory,
        piece: Piece,
        state: u64,
        copy: Cow<'m, [u8]>,
        again: &[u8],
    ) -> Option<CopiedMemory<'m>> {
        if *again != *copy || copy.len() != piece.length {
            return None;
        }
        let outside_too = !State::of(word_at(&copy, usize::try_from(state).ok()?)?).running;
        Some(CopiedMemory {
            memory,
            address: piece.address,
            copy,
            outside_too,
            outside: RefCell::default(),
            read: Cell::new(0),
            was_aside: Cell::new(false),
        })
    }

    /// Of the cell's header.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Whether the task ran between the copies.
    pub fn ran(&self) -> bool {
        !self.outside_too
    }

    /// Runs `read`, and returns its answer if nothing that it read outside the copy has changed meanwhile. Its reads do not count
    /// for `unchanged`: a variable that the task has given up may point anywhere.
    pub fn aside<T>(&self, read: impl FnOnce() -> T) -> Option<T> {
        let before = (self.outside.take(), self.read.replace(limits::OUTSIDE - limits::ASIDE));
        let answer = read();
        let aside = self.outside.replace(before.0);
        self.read.set(before.1);
        self.was_aside.set(self.was_aside.get() || !aside.is_empty());
        aside.iter().all(|(address, bytes)| self.same(*address, bytes)).then_some(answer)
    }

    /// Whether something outside the copy was read.
    pub fn has_outside(&self) -> bool {
        self.was_aside.get() || !self.outside.borrow().is_empty()
    }

    /// Returns whether all bytes that were read are still the same.
    pub fn unchanged(&self) -> bool {
        // the copy first: memory outside was the same before and after, so all of it stood there together
        let outside = self.outside.borrow();
        self.same(self.address, &self.copy) && outside.iter().all(|(address, bytes)| self.same(*address, bytes))
    }

    fn same(&self, address: u64, bytes: &[u8]) -> bool {
        let mut now = vec![0; bytes.len()];
        self.memory.read(address, &mut now).is_ok() && now == bytes
    }

    /// Copies a value as a whole, so that `unchanged` compares also its bytes that nobody reads.
    pub fn hold(&self, address: u64, size: u64) -> Result<(), Unreadable> {
        let size = usize::try_from(size).map_err(|_| Unreadable { address })?;
        if self.copied(address, size).is_some() || self.held(address, size, |_| ()).is_some() {
            return Ok(());
        }
        let read = self.read.get().saturating_add(size);
        if !self.outside_too || read > limits::OUTSIDE {
            return Err(Unreadable { address });
        }
        self.read.set(read);
        let mut bytes = vec![0; size];
        self.memory.read(address, &mut bytes)?;
        self.outside.borrow_mut().insert(address, bytes);
        Ok(())
    }

    /// Memory as it is now: for locks and channels, which other tasks change all the time.
    pub fn live(&self) -> &'m dyn Memory {
        self.memory
    }

    fn copied(&self, address: u64, length: usize) -> Option<&[u8]> {
        let from = usize::try_from(address.checked_sub(self.address)?).ok()?;
        self.copy.get(from..from.checked_add(length)?)
    }

    fn held<T>(&self, address: u64, length: usize, take: impl FnOnce(&[u8]) -> T) -> Option<T> {
        let outside = self.outside.borrow();
        let (begin, bytes) = outside.range(..=address).next_back()?;
        let from = usize::try_from(address - begin).ok()?;
        bytes.get(from..from.checked_add(length)?).map(take)
    }
}

impl Memory for CopiedMemory<'_> {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
        if let Some(copied) = self.copied(address, bytes.len()) {
            bytes.copy_from_slice(copied);
            return Ok(());
        }
        self.hold(address, bytes.len() as u64)?;
        self.held(address, bytes.len(), |held| bytes.copy_from_slice(held)).ok_or(Unreadable { address })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory whose word at 0 counts the reads, and whose other bytes are 6: the state of an idle task. At 128 a task runs.
    struct Counting(Cell<u64>);

    impl Memory for Counting {
        fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
            bytes.fill(6);
            if address == 0 {
                self.0.set(self.0.get() + 1);
                bytes[0] = self.0.get() as u8;
            }
            if address == 128 {
                bytes[0] = 7;
            }
            Ok(())
        }
    }

    #[test]
    fn a_changing_range_is_not_steady() {
        let memory = Counting(Cell::new(0));
        assert!(CopiedMemory::read(&memory, Piece { address: 0, length: 16 }, 0).unwrap().is_none());
        let steady = CopiedMemory::read(&memory, Piece { address: 64, length: 16 }, 0).unwrap().unwrap();
        assert_eq!(steady.word(72), Ok(0x0606_0606_0606_0606));
        assert!(steady.unchanged());
    }

    #[test]
    fn a_change_outside_is_noticed_and_reads_agree_until_then() {
        let memory = Counting(Cell::new(0));
        let steady = CopiedMemory::read(&memory, Piece { address: 64, length: 16 }, 0).unwrap().unwrap();
        assert_eq!(steady.word(0), steady.word(0));
        assert!(steady.has_outside() && !steady.unchanged());
    }

    #[test]
    fn a_held_value_answers_reads_within_it() {
        let memory = Counting(Cell::new(0));
        let steady = CopiedMemory::read(&memory, Piece { address: 64, length: 16 }, 0).unwrap().unwrap();
        steady.hold(0, 32).unwrap();
        assert_eq!(steady.word(0).unwrap() & 0xff, 1);
        assert_eq!(steady.word(24), Ok(0x0606_0606_0606_0606));
        let inside = CopiedMemory::read(&memory, Piece { address: 128, length: 16 }, 0).unwrap().unwrap();
        assert!(inside.ran() && inside.word(136).is_ok() && inside.word(0).is_err());
    }
}
