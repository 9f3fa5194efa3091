//! System calls of the recorder beyond POSIX: one leaf file for Linux, one for other systems, both with the same names.
//! `--cfg dyntrace_portable` selects the second on Linux, for `ci/cross`.

#[cfg_attr(all(target_os = "linux", not(dyntrace_portable)), path = "linux.rs")]
#[cfg_attr(not(all(target_os = "linux", not(dyntrace_portable))), path = "portable.rs")]
mod leaf;

pub(super) use leaf::{COARSE, NO_RESERVE, end_pause, pause, populate, random, reserve, threads, used_addresses};
