//! What the operating system gives the recorder beyond POSIX: one leaf file for Linux, one for the other systems, which also runs on Linux
//! where `--cfg dyntrace_portable` selects it (`ci/cross`). Both have the same names.

#[cfg_attr(all(target_os = "linux", not(dyntrace_portable)), path = "linux.rs")]
#[cfg_attr(not(all(target_os = "linux", not(dyntrace_portable))), path = "portable.rs")]
mod leaf;

pub(super) use leaf::{COARSE, NO_RESERVE, end_pause, pause, populate, random, reserve, threads, used_addresses};
