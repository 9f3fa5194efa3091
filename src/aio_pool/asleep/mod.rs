//! Whether a thread sleeps in the kernel: what the time that a work takes does not tell, where the processors are busy.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "other.rs")]
mod system;

pub(super) use system::{ThreadNumber, Waits};
