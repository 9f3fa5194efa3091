//! How the system treats a thread: whether it is blocked in the kernel (a job's duration does not tell where the processors are busy),
//! and on which processors it may run.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "other.rs")]
mod system;

pub(super) use system::{BlockMeter, KernelThread, processor};
