//! The copy of a thread that is made while it is held.

use std::time::SystemTime;

use super::hold::{Held, NotHeld, hold};
use super::polled::{Cell, Heaps, cells};
use super::registers::Registers;
use crate::memory::live::Process;
use crate::memory::word_at;

/// Bytes of the stack, at most: reading them takes less than 0.1 ms.
const LENGTH: usize = 256 << 10;

/// Bytes below the stack pointer that a function may use without moving it.
const RED_ZONE: u64 = 128;

/// A thread's registers and the top of its stack, of one instant.
#[derive(Debug)]
pub(super) struct Copy {
    pub registers: Registers,
    /// Of the first byte.
    address: u64,
    bytes: Vec<u8>,
    /// The cells of running tasks whose addresses stand in the registers or on the stack.
    pub cells: Vec<Cell>,
    /// When it was read.
    pub at: SystemTime,
    /// Nanoseconds that the thread was held.
    pub held: u64,
}

impl Copy {
    /// Returns a copy of an empty stack, for tests.
    #[cfg(test)]
    pub(super) fn sample(registers: Registers) -> Copy {
        Copy { registers, address: 0, bytes: Vec::new(), cells: Vec::new(), at: SystemTime::UNIX_EPOCH, held: 0 }
    }

    /// Holds a thread and copies its stack.
    pub(super) fn of(process: &Process, tid: u32, heaps: &Heaps<'_>) -> Result<Option<Copy>, NotHeld> {
        // The kernel gives the pages for the copy when they are written: before the thread is held.
        let mut bytes = vec![1; LENGTH];
        let read = |held: &Held| {
            let registers = held.registers()?;
            let address = registers.stack.saturating_sub(RED_ZONE) & !7;
            // Fewer at the stack's upper end.
            let length = process.read_some(address, &mut bytes).unwrap_or(0);
            bytes.truncate(length);
            let cells = cells(process, heaps, &registers, address, &bytes);
            Some((registers, address, cells))
        };
        let (read, at, time) = hold(tid, read)?;
        let held = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Ok(read.map(|(registers, address, cells)| Copy { registers, address, bytes, cells, at, held }))
    }

    /// Returns the word at an address of the process. `None` outside of the copy.
    pub(super) fn word(&self, address: u64) -> Option<u64> {
        word_at(&self.bytes, usize::try_from(address.checked_sub(self.address)?).ok()?)
    }
}
