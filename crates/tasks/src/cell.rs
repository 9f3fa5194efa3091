//! The header of a task's cell, and whether it can be that of a task that lives.
//!
//! A freed cell often keeps its vtable. It does not keep a valid state: tokio frees a task when its count of references
//! is 0, and allocators that write into free memory write pointers over the state.

use crate::memory::word_at;

/// Bytes of the header that every version of tokio has.
pub const HEADER: usize = 32;

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

/// The first words of a cell.
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
    pub fn parse(bytes: &[u8]) -> Option<Header> {
        let word = |index: usize| word_at(bytes, index * 8);
        Some(Header { state: word(0)?, queue_next: word(1)?, vtable: word(2)?, owner: word(3)? })
    }

    /// Whether a task that lives can have it.
    #[must_use]
    pub fn can_live(&self) -> bool {
        let references = self.state >> REFERENCES;
        (1..=MOST_REFERENCES).contains(&references)
            && self.state & (RUNNING | COMPLETE) != RUNNING | COMPLETE
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const IDLE: Header = Header { state: 1 << REFERENCES, queue_next: 0, vtable: 0x5000, owner: 1 };

    #[test]
    fn parses_words_in_order() {
        let bytes: Vec<u8> = [1_u64, 2, 3, 4].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(Header::parse(&bytes), Some(Header { state: 1, queue_next: 2, vtable: 3, owner: 4 }));
        assert_eq!(Header::parse(&bytes[..31]), None);
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
            if let Some(header) = Header::parse(&bytes) {
                let _ = header.can_live();
            }
        }
    }
}
