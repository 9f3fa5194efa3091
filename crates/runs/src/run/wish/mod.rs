//! The environment variable by which a command records itself.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "elsewhere.rs")]
mod leaf;

pub use leaf::{IS_SUPPORTED, nothing, wish};
