//! The joined sections of this program's sites.

use std::arch::asm;
use std::slice;

/// The description of a site. (`repr(C)`: `ci/cross` reads it in object files.)
#[doc(hidden)]
#[derive(Debug)]
#[repr(C)]
pub struct Probe {
    /// The provider's name.
    pub provider: &'static str,
    /// The probe's name, with `__`.
    pub name: &'static str,
    /// The path of the site's Rust module.
    pub function: &'static str,
    /// The C types of the arguments; `None` at an is-enabled site.
    pub arguments: Option<&'static [&'static str]>,
    /// DTrace's attributes of the provider: five times three numbers, with `_` between them. Empty at an is-enabled site.
    pub attributes: &'static str,
}

/// A record: the address of the site's instruction, and its description.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Site {
    pub(super) address: usize,
    pub(super) probe: &'static Probe,
}

/// The start and end of a section. The linker defines both, and this assembly makes sure that the section exists. Hidden, so that each
/// shared object gets its own.
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
    // SAFETY: the section contains only records of the macros in `dof`: two words each, aligned to 8 bytes, the second the address of a
    // `static`. It does not change after the loader has relocated it.
    unsafe { slice::from_raw_parts(start as *const Site, count) }
}

/// The memory for the DOF of the sites. It must be in the program or shared object itself: `dtprobed` attributes DOF to the file that its
/// memory is mapped from.
///
/// # Safety
///
/// No slice from an earlier call is in use.
pub(super) unsafe fn room() -> &'static mut [u8] {
    // More than the headers of an object need.
    let (start, stop) = ends!("dyntrace_dof", "512");
    // SAFETY: the section contains only the room that the macros in `dof` reserve, in writable memory. The caller guarantees that it is
    // unused.
    unsafe { slice::from_raw_parts_mut(start as *mut u8, stop - start) }
}
