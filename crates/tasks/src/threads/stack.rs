//! The copy of a thread that is made while it is held.

use std::ops::Range;
use std::time::SystemTime;

use super::hold::{Held, NotHeld, hold};
use super::polled::{Cell, Heaps, cells};
use super::registers::Registers;
use crate::memory::live::Process;
use crate::memory::word_at;
use crate::scan::ByAddress;

/// Bytes of the stack, at most: reading them takes less than 0.1 ms.
const LENGTH: usize = 256 << 10;

/// Bytes below the stack pointer that a function may use without moving it.
const RED_ZONE: u64 = 128;

/// The words of a thread, of one instant.
pub(crate) struct Words {
    pub pointer: u64,
    /// The part of its stack that was read.
    pub read: Range<u64>,
    /// Those in its registers, then those on its stack.
    pub words: Vec<u64>,
}

/// Holds a thread and reads its registers and the top of its stack. `None` if it has ended.
///
/// # Errors
///
/// If it cannot be held, the reason.
pub(crate) fn words(process: &Process, tid: u32) -> Result<Option<Words>, String> {
    let nothing = ByAddress::new(&[]);
    let copy = match Copy::of(process, tid, &Heaps { vtables: &[], by_address: &nothing, ranges: &[] }) {
        Ok(Some(copy)) => copy,
        Ok(None) => return Err("the kernel does not give them".to_owned()),
        Err(NotHeld::Ended) => return Ok(None),
        Err(NotHeld::Refused(error)) => return Err(error.to_string()),
        Err(NotHeld::NotStopped) => return Err("it did not stop within 2 s".to_owned()),
    };
    let on_stack = copy.bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
    let words = copy.registers.all.iter().copied().chain(on_stack).collect();
    Ok(Some(Words { pointer: copy.registers.stack, read: copy.address..copy.address + copy.bytes.len() as u64, words }))
}

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
