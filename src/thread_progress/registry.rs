//! All records, and how a thread claims its own.

use super::block::{Block, Blocks};
use super::record::Record;

pub(super) struct Registry {
    pub(super) blocks: Blocks,
}

impl Registry {
    pub(super) fn records(&self) -> impl Iterator<Item = &'static Record> {
        self.blocks.iter().flat_map(|block| &block.records)
    }

    /// Claims a record for the current thread, whose id is `thread` and which has no pins. Returns `None` without memory.
    pub(super) fn claim(&self, thread: u32, has_ended: impl Fn(u32) -> bool) -> Option<&'static Record> {
        let record = self
            .records()
            .find(|record| record.owner().thread() == thread) // 7
            .or_else(|| self.take_free(thread)) // 8
            .or_else(|| {
                self.free_ended(has_ended);
                self.take_free(thread)
            })
            .or_else(|| self.grow(thread))?;
        record.clear();
        Some(record)
    }

    fn take_free(&self, thread: u32) -> Option<&'static Record> {
        self.records().find(|record| {
            let owner = record.owner();
            owner.is_none() && record.take(owner, thread)
        })
    }

    /// Frees the records of all threads that have ended, so that not each new thread has to check all of them.
    fn free_ended(&self, has_ended: impl Fn(u32) -> bool) {
        for record in self.records() {
            let owner = record.owner();
            if !owner.is_none() && has_ended(owner.thread()) {
                record.free_ended(owner);
            }
        }
    }

    fn grow(&self, thread: u32) -> Option<&'static Record> {
        let block = Block::map()?;
        block.records[0].hand_over(thread);
        self.blocks.push(block).records.first()
    }
}
