//! Debug information of one ELF file: functions by address, and types read on request.
//!
//! [`Sections`] owns or borrows the bytes, [`Types`] is an index over them. Each read of damaged debug information ends in an
//! error or in less knowledge: `limits` bounds every walk.

mod all;
mod entries;
mod functions;
#[cfg(test)]
mod fuzz;
mod index;
mod kept;
pub(crate) mod limits;
mod parse;
mod paths;
mod places;
mod polled;
mod runtime;
#[cfg(test)]
pub(crate) mod sample;
mod sections;
mod spawns;
mod types;
mod vtables;

pub(crate) use all::read_all;
pub use polled::PolledTask;
pub use runtime::CountPath;
pub use sections::{Error, Sections};
pub(crate) use types::{Member, Shape, Type};
pub use types::{TypeId, Types};
