//! The parts of a module: its descriptor, and the connection of its copy of this crate to the program's.

pub(crate) mod allocator;
pub(crate) mod define;
pub(crate) mod fingerprint;
pub(crate) mod host_interface;
pub(crate) mod sections;
