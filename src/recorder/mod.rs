//! The recorder: probes into per-thread files at memory speed, without a tracer and without root.

mod descriptor;

pub use descriptor::{Argument, Descriptor, Kind};
