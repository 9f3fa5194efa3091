//! From a file to a version that is prepared: without effect on anything that runs.

pub(crate) mod copies;
pub(crate) mod inspect;
pub(crate) mod job;
pub(crate) mod library;
mod mapped;
pub(crate) mod policy;
pub(crate) mod prepare;
mod sha256;
