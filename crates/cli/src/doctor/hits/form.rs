//! The instructions at a site.

use std::fmt;

use object::elf;

/// The processor of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processor {
    X86_64,
    X86,
    Aarch64,
}

impl Processor {
    /// `None` for processors whose sites this command does not know.
    pub fn of(machine: elf::Machine) -> Option<Processor> {
        match machine {
            elf::EM_X86_64 => Some(Processor::X86_64),
            elf::EM_386 => Some(Processor::X86),
            elf::EM_AARCH64 => Some(Processor::Aarch64),
            _ => None,
        }
    }

    /// Whether a kernel for the processor of this command runs programs for this one.
    pub fn runs_here(self) -> bool {
        match self {
            Processor::X86_64 => cfg!(target_arch = "x86_64"),
            Processor::X86 => cfg!(any(target_arch = "x86_64", target_arch = "x86")),
            Processor::Aarch64 => cfg!(target_arch = "aarch64"),
        }
    }

    /// The instruction that kernels write over a traced site.
    pub fn breakpoint(self) -> &'static str {
        match self {
            Processor::X86_64 | Processor::X86 => "int3",
            Processor::Aarch64 => "brk",
        }
    }
}

/// The nops at a site, as far as kernels and tracers tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// The shortest nop of the processor.
    Nop,
    /// The nop of 1 byte and that of 10 bytes that kernels replace by a call: dyntrace's default.
    NopAndNop10,
    /// The nop of 1 byte and one of 5 bytes.
    NopAndNop5,
    /// One nop of 5 bytes: dyntrace's feature `nop5`.
    Nop5,
    /// Another instruction.
    Other,
}

const NOP: &[u8] = &[0x90];
const NOP5: &[u8] = &[0x0f, 0x1f, 0x44, 0, 0];
const NOP10: &[u8] = &[0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0];
const NOP_AARCH64: &[u8] = &[0x1f, 0x20, 0x03, 0xd5];

impl Form {
    /// The form of a site that begins with the bytes `code`.
    pub fn of(processor: Processor, code: &[u8]) -> Form {
        if processor == Processor::Aarch64 {
            return if code.starts_with(NOP_AARCH64) { Form::Nop } else { Form::Other };
        }
        match code.strip_prefix(NOP) {
            Some(second) if second.starts_with(NOP10) => Form::NopAndNop10,
            Some(second) if second.starts_with(NOP5) => Form::NopAndNop5,
            Some(_) => Form::Nop,
            None if code.starts_with(NOP5) => Form::Nop5,
            None => Form::Other,
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Form::Nop => "a nop",
            Form::NopAndNop10 => "a nop and a 10-byte nop",
            Form::NopAndNop5 => "a nop and a 5-byte nop",
            Form::Nop5 => "a 5-byte nop",
            Form::Other => "another instruction than a nop",
        })
    }
}
