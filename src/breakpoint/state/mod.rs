//! What is done at the functions that are traced, and the sessions that want it: plain data, which hits read and settings replace.

pub(crate) mod block;
pub(crate) mod data;
pub(crate) mod entry;
pub(crate) mod flags;
pub(crate) mod generic_bp;
pub(crate) mod held_up;
pub(crate) mod limits;
pub(crate) mod process_flags;
pub(crate) mod session_core;
pub(crate) mod set;
