//! The header of a task's cell, and whether it can be that of a task that lives.
//!
//! A freed cell often keeps its vtable. It does not keep a valid state: tokio frees a task when its count of references
//! is 0, and allocators that write into free memory write pointers over the state.

use serde::Serialize;

use crate::memory::word_at;

/// A task's cell is aligned to this, on x86-64 and aarch64.
pub const ALIGNMENT: usize = 128;

/// A thread polls the task.
pub const RUNNING: u64 = 1;
/// The task's future has returned.
pub const COMPLETE: u64 = 2;
/// The task waits for a thread.
pub const NOTIFIED: u64 = 4;
/// A `JoinHandle` of the task exists.
pub const JOIN_INTEREST: u64 = 8;
/// Another task awaits the `JoinHandle`.
pub const JOIN_WAKER: u64 = 16;
/// The task was aborted.
pub const CANCELLED: u64 = 32;

/// References are counted from this bit on.
const REFERENCES: u32 = 6;

/// More references than any task has, and fewer than a pointer in the state's place would mean.
const MOST_REFERENCES: u64 = 1 << 24;

/// More runtimes than any program has had.
const MOST_OWNERS: u64 = 1 << 40;

/// Upper end of a process's addresses, on x86-64 and aarch64 with 48 bits.
const USER_END: u64 = 1 << 48;

/// Where a header has its words, in bytes from its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct HeaderLayout {
    /// Of [`Header::state`].
    pub state: u64,
    /// Of [`Header::queue_next`].
    pub queue_next: u64,
    /// Of [`Header::vtable`].
    pub vtable: u64,
    /// Of [`Header::owner`].
    pub owner: u64,
}

/// That of all versions of tokio that are known.
impl Default for HeaderLayout {
    fn default() -> HeaderLayout {
        HeaderLayout { state: 0, queue_next: 8, vtable: 0x10, owner: 0x18 }
    }
}

impl HeaderLayout {
    /// Returns how many bytes of a header have all words.
    #[must_use]
    pub fn length(&self) -> usize {
        let HeaderLayout { state, queue_next, vtable, owner } = *self;
        usize::try_from(state.max(queue_next).max(vtable).max(owner)).map_or(usize::MAX, |last| last.saturating_add(8))
    }
}

/// The words of a cell that do not depend on its future.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Flags, and the count of references.
    pub state: u64,
    /// The next task of a queue.
    pub queue_next: u64,
    /// The address of the task's vtable.
    pub vtable: u64,
    /// The runtime's number, 0 for jobs of the blocking pool.
    pub owner: u64,
}

impl Header {
    /// Returns the header at the beginning of `bytes`.
    #[must_use]
    pub fn parse(bytes: &[u8], layout: &HeaderLayout) -> Option<Header> {
        let word = |offset: u64| word_at(bytes, usize::try_from(offset).ok()?);
        Some(Header {
            state: word(layout.state)?,
            queue_next: word(layout.queue_next)?,
            vtable: word(layout.vtable)?,
            owner: word(layout.owner)?,
        })
    }

    /// Whether a task that lives can have it.
    #[must_use]
    pub fn can_live(&self) -> bool {
        can_be_state(self.state)
            && self.queue_next.is_multiple_of(ALIGNMENT as u64)
            && self.queue_next < USER_END
            && self.owner < MOST_OWNERS
            && (self.owner != 0 || self.can_be_job())
    }

    /// A job of the blocking pool is never idle. A pointer, which is aligned, looks as if it were.
    fn can_be_job(&self) -> bool {
        self.state & (RUNNING | COMPLETE | NOTIFIED) != 0
    }
}

/// Returns the number of references that a state counts.
pub(crate) fn references(state: u64) -> u64 {
    state >> REFERENCES
}

/// Whether it can be the state of a task that lives.
pub(crate) fn can_be_state(word: u64) -> bool {
    (1..=MOST_REFERENCES).contains(&(word >> REFERENCES)) && word & (RUNNING | COMPLETE) != RUNNING | COMPLETE
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const IDLE: Header = Header { state: 1 << REFERENCES, queue_next: 0, vtable: 0x5000, owner: 1 };

    #[test]
    fn parses_words_in_order() {
        let bytes: Vec<u8> = [1_u64, 2, 3, 4].iter().flat_map(|word| word.to_le_bytes()).collect();
        let layout = HeaderLayout::default();
        assert_eq!(Header::parse(&bytes, &layout), Some(Header { state: 1, queue_next: 2, vtable: 3, owner: 4 }));
        assert_eq!(Header::parse(&bytes[..31], &layout), None);
        assert_eq!(layout.length(), 32);
        let moved = HeaderLayout { state: 8, queue_next: 0x10, vtable: 0x18, owner: 0 };
        assert_eq!(Header::parse(&bytes, &moved), Some(Header { state: 2, queue_next: 3, vtable: 4, owner: 1 }));
    }

    #[test]
    fn tasks_that_live() {
        for state in [0, RUNNING, COMPLETE, NOTIFIED, RUNNING | NOTIFIED, CANCELLED | COMPLETE] {
            assert!(Header { state: IDLE.state | state, ..IDLE }.can_live(), "{state}");
        }
        assert!(Header { queue_next: 0x7f00_0000_0080, ..IDLE }.can_live());
        assert!(Header { owner: 0, state: IDLE.state | NOTIFIED, ..IDLE }.can_live());
    }

    #[test]
    fn freed_cells() {
        let freed = [
            // No references, as tokio leaves it.
            Header { state: COMPLETE, ..IDLE },
            // The allocator's pointers.
            Header { state: 0x7f00_0000_0080, ..IDLE },
            Header { queue_next: 0x55e0_0000_0070, ..IDLE },
            // glibc's random key.
            Header { queue_next: 0x9e37_79b9_7f4a_7c00, ..IDLE },
            Header { state: IDLE.state | RUNNING | COMPLETE, ..IDLE },
            // An idle job.
            Header { owner: 0, ..IDLE },
            Header { owner: 0x7f00_0000_0000, ..IDLE },
        ];
        for header in freed {
            assert!(!header.can_live(), "{header:x?}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(bytes: Vec<u8>) {
            if let Some(header) = Header::parse(&bytes, &HeaderLayout::default()) {
                let _ = header.can_live();
            }
        }
    }
}
