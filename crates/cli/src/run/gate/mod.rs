//! A command held before its first instruction, until the tracer is ready for it.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "elsewhere.rs")]
mod leaf;

pub use leaf::{Held, IS_SUPPORTED, Start, hold};
