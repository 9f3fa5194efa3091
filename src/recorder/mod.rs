//! The recorder: probes into per-thread files at memory speed, without a tracer and without root.

mod descriptor;
mod filter;
mod glob;
mod options;

pub use descriptor::{Argument, Descriptor, Kind};
pub use filter::{Field, Filter};
pub use glob::Glob;
pub use options::{Mode, Options, OptionsError};
