//! Which of their parent's memory forked children get: one leaf file per system.

#[cfg_attr(all(target_os = "linux", not(any(miri, dyntrace_portable))), path = "linux.rs")]
#[cfg_attr(target_os = "freebsd", path = "freebsd.rs")]
#[cfg_attr(
    not(any(all(target_os = "linux", not(any(miri, dyntrace_portable))), target_os = "freebsd")),
    path = "none.rs"
)]
mod leaf;

pub use leaf::{leave_out_of_children, wipe_in_children};
