//! The operating system's functions for threads: one leaf file per system. `--cfg dyntrace_portable` selects the portable one on Linux.

#[cfg_attr(all(target_os = "linux", not(any(loom, miri, dyntrace_portable))), path = "linux.rs")]
#[cfg_attr(target_os = "freebsd", path = "freebsd.rs")]
#[cfg_attr(
    not(any(all(target_os = "linux", not(any(loom, miri, dyntrace_portable))), target_os = "freebsd")),
    path = "elsewhere.rs"
)]
mod threads;
#[cfg(not(loom))]
pub use threads::at_end_of_thread;
pub use threads::{barrier, has_ended, register_barrier, thread_id, thread_name};

#[cfg(any(not(target_os = "linux"), loom, miri, dyntrace_portable))]
mod no_barrier;

mod errno;
pub use errno::errno;

mod fork;
pub use fork::around_fork;
pub use fork::{after_fork_in_child, in_forked_child};

mod signals;
#[cfg(all(recorded, target_os = "linux"))]
pub use signals::may_be_in_handler;
pub use signals::{without_file_size_signal, without_signals};
