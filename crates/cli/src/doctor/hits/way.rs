//! The ways in which a kernel handles a hit of a traced site. `docs/sites.md` names the sources of these facts.

use dyntrace_runs::tracer::{TracerKind, Version};

use super::form::{Form, Processor};

/// The first version that steps over a nop of several bytes without the processor.
const EMULATES_LONG_NOPS: Version = Version(6, 16, 0);
/// The first version that steps over the nop of aarch64 without the processor.
const EMULATES_AARCH64: Version = Version(6, 13, 0);
/// The first version that replaces a traced 5-byte nop.
const REPLACES_NOP5: Version = Version(6, 18, 0);
/// The first version that replaces a traced 10-byte nop, and no 5-byte nop any more.
const REPLACES_NOP10: Version = Version(7, 3, 0);

/// Since this version bpftrace leaves the place of a probe to libbpf.
const BPFTRACE_LIBBPF: Version = Version(0, 24, 0);

/// The traced nop of x86_64 that a kernel replaces by a call of a trampoline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaces {
    Nothing,
    Nop5,
    Nop10,
}

impl Replaces {
    /// By the kernel's version, and by the error with which it refuses the system call of its trampolines to other code. The error
    /// counts more: versions do not tell what a distribution has taken over from newer kernels.
    pub fn of(version: Version, refusal: Option<i32>) -> Replaces {
        match refusal {
            Some(nix::libc::ENXIO) => Replaces::Nop5,
            Some(nix::libc::EPROTO) => Replaces::Nop10,
            Some(nix::libc::ENOSYS) => Replaces::Nothing,
            _ if version >= REPLACES_NOP10 => Replaces::Nop10,
            _ if version >= REPLACES_NOP5 => Replaces::Nop5,
            _ => Replaces::Nothing,
        }
    }

    /// Whether a kernel of this version may have the system call. Older ones are not asked: a filter of system calls might end the process.
    pub fn is_worth_asking(version: Version) -> bool {
        version >= REPLACES_NOP5
    }
}

/// A kernel, as far as it matters for hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    pub version: Version,
    pub replaces: Replaces,
}

/// The way in which the kernel handles each hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// The site has become a call of a trampoline that makes a system call.
    SystemCall,
    /// The breakpoint traps, and the kernel steps over the nop by itself.
    Emulated,
    /// The breakpoint traps, and the processor executes a copy of the site, which traps a second time.
    Stepped,
}

impl Way {
    pub fn text(self, processor: Processor) -> String {
        match self {
            Way::SystemCall => "optimised to a system call".to_owned(),
            Way::Emulated => format!("{}, emulated", processor.breakpoint()),
            Way::Stepped => format!("{}, single-stepped", processor.breakpoint()),
        }
    }
}

/// The nop of a site that a tracer attaches to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteNop {
    /// That of the note.
    First,
    /// The one after it, where the kernel replaces that one.
    Second,
}

/// The places where this version of a tracer may attach. bpftrace is built with many versions of libbpf, and does not tell which.
pub fn places(kind: TracerKind, version: Version) -> &'static [SiteNop] {
    if kind == TracerKind::Bpftrace && version >= BPFTRACE_LIBBPF {
        &[SiteNop::First, SiteNop::Second]
    } else {
        &[SiteNop::First]
    }
}

/// The way in which `kernel` handles a hit of a site of this form. `None` where it depends on the instruction there.
pub fn at_hit(processor: Processor, form: Form, place: SiteNop, kernel: Kernel) -> Option<Way> {
    let emulated_since = |version| if kernel.version >= version { Way::Emulated } else { Way::Stepped };
    let replaces = match processor {
        Processor::X86_64 => kernel.replaces,
        // Only code of 64 bits is optimised.
        Processor::X86 | Processor::Aarch64 => Replaces::Nothing,
    };
    Some(match (form, place, replaces) {
        (Form::Other, ..) => return None,
        (Form::Nop5, _, Replaces::Nop5)
        | (Form::NopAndNop5, SiteNop::Second, Replaces::Nop5)
        | (Form::NopAndNop10, SiteNop::Second, Replaces::Nop10) => Way::SystemCall,
        (Form::Nop5, ..) => emulated_since(EMULATES_LONG_NOPS),
        (Form::Nop, ..) if processor == Processor::Aarch64 => emulated_since(EMULATES_AARCH64),
        (Form::Nop | Form::NopAndNop5 | Form::NopAndNop10, ..) => Way::Emulated,
    })
}
