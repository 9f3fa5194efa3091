//! The section of the object file that holds all sites; the linker names its ends.
//!
//! A function refers to its site, so the linker keeps both or neither.

use super::Site;

/// Returns all sites of this program, or of the shared object that contains this copy of dyntrace.
#[cfg(not(any(loom, miri)))]
pub fn sites() -> &'static [Site] {
    use dyntrace_probes::linked::linked;

    use super::Function;

    // No pattern matches an empty name.
    const NOTHING: &Function = &Function::new("", "", 0, &[]);
    linked!("dyntrace_traced": Site = Site::new(NOTHING))
}

/// Models have sites of their own; miri has no sections.
#[cfg(any(loom, miri))]
pub fn sites() -> &'static [Site] {
    &[]
}
