//! What the operating system knows of threads: one leaf file per way.

#[cfg(all(target_os = "linux", not(any(loom, miri))))]
mod linux;
#[cfg(all(target_os = "linux", not(any(loom, miri))))]
pub(crate) use linux::{barrier, has_ended, register_barrier, thread_id, thread_name};

#[cfg(any(not(target_os = "linux"), loom, miri))]
mod elsewhere;
#[cfg(any(not(target_os = "linux"), loom, miri))]
pub(crate) use elsewhere::{barrier, has_ended, register_barrier, thread_id, thread_name};

mod fork;
pub(crate) use fork::{after_fork_in_child, around_fork, in_forked_child};

mod signals;
pub(crate) use signals::{without_file_size_signal, without_signals};
