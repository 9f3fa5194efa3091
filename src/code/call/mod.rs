//! The path of a call, from a handle to the code that it runs. Handles in modules use it too, through the host's memory.

pub(crate) mod call_error;
pub(crate) mod export_entry;
pub(crate) mod export_name;
pub(crate) mod hold;
pub(crate) mod index;
pub(crate) mod missing;
pub(crate) mod panicked;
pub(crate) mod pending;
