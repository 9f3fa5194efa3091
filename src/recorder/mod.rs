//! The recorder: probes into per-thread files at memory speed, without a tracer and without root.

mod clock;
pub mod control;
mod descriptor;
mod filter;
mod glob;
mod metadata;
mod options;
mod packet;
mod snapshot;
mod stream_file;
#[cfg(test)]
mod synthetic;

pub use descriptor::{Argument, Descriptor, Kind};
pub use filter::{Field, Filter};
pub use glob::Glob;
pub use options::{Mode, Options, OptionsError};
