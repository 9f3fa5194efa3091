//! The registers of a thread, of each architecture.

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
