//! All records, and how a thread claims its own.

use super::block::{Block, Blocks};
use super::record::Record;

pub(super) struct Registry {
    pub(super) blocks: Blocks,
}

/// The records that each new thread checks before it takes a free one, so that threads that come and go use the same few. Only without a
/// free one it checks all.
const FEW: usize = 8;

impl Registry {
    pub(super) fn records(&self) -> impl Iterator<Item = &'static Record> {
        self.blocks.iter().flat_map(|block| &block.records)
    }

    /// Claims a record for the current thread, whose id is `thread` and which has no pins. Returns `None` without memory.
    pub(super) fn claim(&self, thread: u32, has_ended: impl Fn(u32) -> bool) -> Option<&'static Record> {
        let record = self
            .records()
            .find(|record| {
                // Taken again, in case another thread has seen an ended one of the same id.
                let owner = record.owner();
                owner.thread() == thread && record.take(owner, thread)
            }) // 7
            .or_else(|| {
                self.free_ended(FEW, &has_ended);
                self.take_free(thread) // 8
            })
            .or_else(|| {
                self.free_ended(usize::MAX, &has_ended);
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

    /// Frees those of the first `most` records whose threads have ended.
    fn free_ended(&self, most: usize, has_ended: impl Fn(u32) -> bool) {
        for record in self.records().take(most) {
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
