//! The recorder: probes into per-thread files at memory speed, without a tracer and without root.

mod channel;
mod clock;
pub mod control;
mod descriptor;
mod environment;
mod error;
mod filter;
mod folder;
mod glob;
mod maintenance;
mod metadata;
mod options;
mod packet;
mod payload;
mod place;
mod recording;
mod ring;
mod session;
mod slot;
mod snapshot;
mod stream_file;
#[cfg(test)]
mod synthetic;

pub use control::control;
pub use descriptor::{Argument, Descriptor, Entry, Kind};
pub use error::Error;
pub use filter::{Field, Filter};
pub use glob::Glob;
pub use options::{Mode, Options, OptionsError};
pub use session::{Session, Snapshot, Status, Summary};
