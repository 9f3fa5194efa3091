//! The sections of this program's sites, as the linker joined them.

use std::arch::asm;
use std::slice;

/// What a site belongs to. (`repr(C)`: `ci/cross` reads it in object files.)
#[doc(hidden)]
#[derive(Debug)]
#[repr(C)]
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

/// Where a section begins and ends. The linker defines both, for a section that this assembly makes sure of. Hidden, so that
/// each shared object gets those of its own section.
macro_rules! ends {
    ($section:literal, $room:literal) => {{
        let (start, stop): (usize, usize);
        // SAFETY: takes two addresses.
        unsafe {
            asm!(
                concat!(".pushsection ", $section, ", \"awR\", @progbits"),
                ".balign 8",
                concat!(".zero ", $room),
                ".popsection",
                concat!(".hidden __start_", $section),
                concat!(".hidden __stop_", $section),
                concat!("lea {start}, [rip + __start_", $section, "]"),
                concat!("lea {stop}, [rip + __stop_", $section, "]"),
                start = out(reg) start,
                stop = out(reg) stop,
                options(nomem, nostack, preserves_flags)
            );
        }
        (start, stop)
    }};
}

/// The sites of the program or shared object that this code is linked into.
pub(super) fn sites() -> &'static [Site] {
    let (start, stop) = ends!("dyntrace_sites", "0");
    let count = (stop - start) / size_of::<Site>();
    // SAFETY: the section holds nothing but the records of the macros in `dof`: two words each, aligned to 8 bytes, the
    // second the address of a `static`. Nobody writes it once the loader has put in the addresses.
    unsafe { slice::from_raw_parts(start as *const Site, count) }
}

/// Where the DOF of the sites is put: `dtprobed` takes DOF for that of the file that its memory is mapped from, so it must be
/// in the program or shared object itself.
///
/// # Safety
///
/// The room is one: whatever was given out before is not used any more.
pub(super) unsafe fn room() -> &'static mut [u8] {
    // More than the heads of an object take.
    let (start, stop) = ends!("dyntrace_dof", "512");
    // SAFETY: the section holds nothing but the room that the macros in `dof` made, in memory that can be written. Nobody else
    // uses it, as the caller says.
    unsafe { slice::from_raw_parts_mut(start as *mut u8, stop - start) }
}
