//! A command held before its first instruction, until the tracer is ready for it.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "elsewhere.rs")]
mod leaf;

use std::process::{Child, ExitStatus};

pub use leaf::{Held, IS_SUPPORTED, hold};

/// A command that was started: it waits before its first instruction, or has ended before that, because the dynamic linker refused it
/// or a signal came.
pub type Started = Result<(Child, Held), ExitStatus>;
