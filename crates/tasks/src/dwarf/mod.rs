//! Debug information of one ELF file: functions by address, and types read on request.
//!
//! [`Sections`] owns or borrows the bytes, also of further files that the file's debug information refers to. [`Types`] is an
//! index over them. Each read of damaged debug information ends in an
//! error or in less knowledge: `limits` bounds every walk.

mod all;
mod answers;
mod description;
mod entries;
mod functions;
#[cfg(test)]
mod fuzz;
mod index;
mod layouts;
pub(crate) mod limits;
mod parse;
mod paths;
mod piece;
mod places;
mod polled;
mod runtime;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
pub(crate) mod sample_files;
mod sections;
mod spawns;
mod split;
mod tables;
mod types;
mod units;
mod vtables;

pub(crate) use all::read_all;
pub use description::TypeId;
pub(crate) use description::{Member, Shape, Type};
pub use polled::PolledTask;
pub use runtime::CountPath;
pub use sections::{Error, Sections};
pub(crate) use split::Skeleton;
pub use types::Types;
