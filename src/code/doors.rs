//! The doors of the host that a guest goes through.

/// A table of the host's functions, for a module's copy of this crate.
#[derive(Debug)]
#[repr(C)]
pub struct Doors {
    /// [`FORM`](super::FORM) of the host's copy.
    pub form: u32,
}
