//! Changes of the tables, in the numbered steps of `code`'s documentation.

pub(crate) mod changing;
pub(crate) mod finish;
pub(crate) mod history;
pub(crate) mod purge;
pub(crate) mod staging;
