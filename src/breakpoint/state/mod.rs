//! Breakpoints, their entries, and the sessions of the entries. Hits read them; settings replace them.

pub(crate) mod block;
pub(crate) mod data;
pub(crate) mod entry;
pub(crate) mod flags;
pub(crate) mod generic_bp;
pub(crate) mod held_up;
pub(crate) mod limits;
pub(crate) mod process_flags;
pub(crate) mod session_core;
pub(crate) mod set_pattern;
