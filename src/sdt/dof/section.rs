//! The table of this program's sites, as the linker joined it.

use std::arch::asm;
use std::slice;

/// What a site belongs to.
#[doc(hidden)]
#[derive(Debug)]
pub struct Probe {
    /// The provider's name.
    pub provider: &'static str,
    /// The probe's name, with `__`.
    pub name: &'static str,
    /// Path of the Rust module of the site.
    pub function: &'static str,
    /// C types of the arguments; none at an is-enabled site.
    pub arguments: Option<&'static [&'static str]>,
}

/// One record: the address of the site's instruction, and what it belongs to.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Site {
    pub(super) address: usize,
    pub(super) probe: &'static Probe,
}

/// The sites of the program or shared object that this code is linked into.
pub(super) fn sites() -> &'static [Site] {
    let (start, stop): (*const Site, *const Site);
    // SAFETY: takes two addresses that the linker defines, for a section that this assembly makes sure of. Hidden, so that
    // each shared object gets those of its own section.
    unsafe {
        asm!(
            ".pushsection dyntrace_sites, \"awR\", @progbits",
            ".popsection",
            ".hidden __start_dyntrace_sites",
            ".hidden __stop_dyntrace_sites",
            "lea {start}, [rip + __start_dyntrace_sites]",
            "lea {stop}, [rip + __stop_dyntrace_sites]",
            start = out(reg) start,
            stop = out(reg) stop,
            options(nomem, nostack, preserves_flags)
        );
    }
    let count = (stop as usize - start as usize) / size_of::<Site>();
    // SAFETY: the section holds nothing but the records of the macros in `dof`: two words each, aligned to 8 bytes, the
    // second the address of a `static`. Nobody writes it once the loader has put in the addresses.
    unsafe { slice::from_raw_parts(start, count) }
}
