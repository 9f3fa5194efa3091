//! Whether a thread is blocked in the kernel. A job's duration does not tell where the processors are busy.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "other.rs")]
mod system;

pub(super) use system::{BlockMeter, KernelThread};
