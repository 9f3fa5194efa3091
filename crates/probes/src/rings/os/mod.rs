//! System calls of the recorder beyond POSIX: one leaf file for Linux, one for other systems, both with the same names.
//! `--cfg dyntrace_portable` selects the second on Linux, for `ci/cross`.

#[cfg_attr(all(target_os = "linux", not(dyntrace_portable)), path = "linux.rs")]
#[cfg_attr(not(all(target_os = "linux", not(dyntrace_portable))), path = "portable.rs")]
mod leaf;

pub use leaf::{COARSE, NO_RESERVE, end_pause, has_server, pause, populate, random, reserve, threads, used_addresses};

/// A limit of the process, in the unit of `resource` (such as `RLIMIT_NOFILE`). `None` if there is none, or if the system does not tell,
/// for instance because a filter of system calls forbids it. Safe in signal handlers.
#[allow(clippy::unnecessary_cast, reason = "systems differ in the type")]
pub fn limit(resource: Resource) -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the place that the call fills in.
    let is_told = unsafe { libc::getrlimit(resource, &mut limit) } == 0;
    (is_told && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur as u64)
}

/// The type of the numbers of resources.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub type Resource = libc::__rlimit_resource_t;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub type Resource = libc::c_int;
