//! From a file to a prepared version, without effect on running code.

pub(crate) mod copies;
pub(crate) mod inspect;
pub(crate) mod job;
pub(crate) mod library;
mod mapped;
pub(crate) mod policy;
pub(crate) mod prepare;
mod sha256;
