//! A copy of a task's cell that was the same twice, and what was read around it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::limits;
use crate::memory::{Memory, Piece, Unreadable};

/// Memory in which one range is a copy, and which remembers each read outside it.
pub(super) struct Steady<'m> {
    memory: &'m dyn Memory,
    address: u64,
    copy: Vec<u8>,
    outside: RefCell<BTreeMap<(u64, usize), Vec<u8>>>,
    read: Cell<usize>,
}

impl<'m> Steady<'m> {
    /// Copies a range twice. Returns `None` if the copies differ.
    pub fn read(memory: &'m dyn Memory, piece: Piece) -> Result<Option<Steady<'m>>, Unreadable> {
        let mut copy = vec![0; piece.length];
        let mut again = vec![0; piece.length];
        memory.read(piece.address, &mut copy)?;
        memory.read(piece.address, &mut again)?;
        Ok(Steady::of(memory, piece, copy, &again))
    }

    /// Takes two copies of a range. Returns `None` if they differ.
    pub fn of(memory: &'m dyn Memory, piece: Piece, copy: Vec<u8>, again: &[u8]) -> Option<Steady<'m>> {
        let steady = Steady { memory, address: piece.address, copy, outside: RefCell::default(), read: Cell::new(0) };
        (again == steady.copy && again.len() == piece.length).then_some(steady)
    }

    /// Returns whether all bytes that were read are still the same. If all lay in the copy, there is nothing to compare.
    pub fn unchanged(&self) -> bool {
        let outside = self.outside.borrow();
        if outside.is_empty() {
            return true;
        }
        let same = |address: u64, bytes: &[u8]| {
            let mut now = vec![0; bytes.len()];
            self.memory.read(address, &mut now).is_ok() && now == bytes
        };
        outside.iter().all(|((address, _), bytes)| same(*address, bytes)) && same(self.address, &self.copy)
    }

    /// Memory as it is now: for locks and channels, which other tasks change all the time.
    pub fn live(&self) -> &'m dyn Memory {
        self.memory
    }

    fn copied(&self, address: u64, length: usize) -> Option<&[u8]> {
        let from = usize::try_from(address.checked_sub(self.address)?).ok()?;
        self.copy.get(from..from.checked_add(length)?)
    }
}

impl Memory for Steady<'_> {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
        if let Some(copied) = self.copied(address, bytes.len()) {
            bytes.copy_from_slice(copied);
            return Ok(());
        }
        let mut outside = self.outside.borrow_mut();
        if let Some(known) = outside.get(&(address, bytes.len())) {
            bytes.copy_from_slice(known);
            return Ok(());
        }
        let read = self.read.get().saturating_add(bytes.len());
        if read > limits::OUTSIDE {
            return Err(Unreadable { address });
        }
        self.read.set(read);
        self.memory.read(address, bytes)?;
        outside.insert((address, bytes.len()), bytes.to_vec());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory whose word at 0 counts the reads, and whose other bytes are 7.
    struct Counting(Cell<u64>);

    impl Memory for Counting {
        fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
            bytes.fill(7);
            if address == 0 {
                self.0.set(self.0.get() + 1);
                bytes[0] = self.0.get() as u8;
            }
            Ok(())
        }
    }

    #[test]
    fn a_changing_range_is_not_steady() {
        let memory = Counting(Cell::new(0));
        assert!(Steady::read(&memory, Piece { address: 0, length: 16 }).unwrap().is_none());
        let steady = Steady::read(&memory, Piece { address: 64, length: 16 }).unwrap().unwrap();
        assert_eq!(steady.word(72), Ok(0x0707_0707_0707_0707));
        assert!(steady.unchanged());
    }

    #[test]
    fn a_change_outside_is_noticed_and_reads_agree_until_then() {
        let memory = Counting(Cell::new(0));
        let steady = Steady::read(&memory, Piece { address: 64, length: 16 }).unwrap().unwrap();
        assert_eq!(steady.word(0), steady.word(0));
        assert!(!steady.unchanged());
    }
}
