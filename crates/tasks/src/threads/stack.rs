//! The copy of a thread that is made while it is held.

use std::ops::Range;
use std::time::SystemTime;

use super::hold::{Held, NotHeld, hold};
use super::polled::{Cell, cells};
use crate::memory::live::Process;
use crate::memory::word_at;
use crate::scan::ByAddress;
use crate::vtables::TaskVtable;

/// Bytes of the stack, at most: reading them takes less than 0.1 ms.
const LENGTH: usize = 256 << 10;

/// Bytes below the stack pointer that a function may use without moving it.
const RED_ZONE: u64 = 128;

/// The registers of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Registers {
    /// Of the next instruction.
    pub code: u64,
    pub stack: u64,
    pub frame: u64,
    /// The return address, on machines that have it in a register.
    pub link: u64,
    /// All that can hold an address.
    pub all: Vec<u64>,
    /// The number of the system call, and its first argument.
    pub call: Option<(u64, u64)>,
}

#[cfg(target_arch = "x86_64")]
impl Registers {
    pub(super) fn of(from: &libc::user_regs_struct, _call: Option<i32>) -> Registers {
        // -1 outside of system calls.
        let number = i32::try_from(from.orig_rax.cast_signed()).ok().and_then(|number| u64::try_from(number).ok());
        Registers {
            code: from.rip,
            stack: from.rsp,
            frame: from.rbp,
            link: 0,
            all: vec![
                from.rax, from.rbx, from.rcx, from.rdx, from.rsi, from.rdi, from.rbp, from.r8, from.r9, from.r10,
                from.r11, from.r12, from.r13, from.r14, from.r15,
            ],
            call: number.map(|number| (number, from.rdi)),
        }
    }
}

#[cfg(target_arch = "aarch64")]
impl Registers {
    pub(super) fn of(from: &libc::user_regs_struct, call: Option<i32>) -> Registers {
        Registers {
            code: from.pc,
            stack: from.sp,
            frame: from.regs[29],
            link: from.regs[30],
            all: from.regs.to_vec(),
            call: call.and_then(|number| u64::try_from(number).ok()).map(|number| (number, from.regs[0])),
        }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl Registers {
    pub(super) fn of(_: &libc::user_regs_struct, _call: Option<i32>) -> Registers {
        Registers { code: 0, stack: 0, frame: 0, link: 0, all: Vec::new(), call: None }
    }
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

/// Where cells can be.
pub(super) struct Heaps<'a> {
    pub vtables: &'a [TaskVtable],
    pub by_address: &'a ByAddress,
    /// In order.
    pub ranges: &'a [Range<u64>],
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
