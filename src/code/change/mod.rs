//! Changes of what is in force, in numbered steps: those of `code`'s description.

pub(crate) mod changing;
pub(crate) mod finish;
mod hand_over;
pub(crate) mod history;
pub(crate) mod purge;
pub(crate) mod staging;
