//! Forked children of a recording program: they begin without sessions, and share no memory with their parent's rings.
//!
//! The kernel does most of it while it creates the child, so that it also holds for children of a bare `clone`:
//!
//! - It wipes the slots that firing threads read ([`SLOTS`]) and the list of sessions. A firing thread then finds no ring. It also wipes
//!   the reference to the table of tasks ([`task_table`]).
//! - It leaves the rings' mappings out of the child (`MADV_DONTFORK`), so the child can use their addresses.
//!
//! Linux and FreeBSD can wipe. On macOS, illumos and NetBSD the mappings stay, and the handler that runs in the child after `fork` clears
//! both. There, a child writes into its parent's rings if it fires before that handler, or if a bare system call made it. The handler also
//! turns the probes off and closes the descriptors that only the parent is to have.
//!
//! A signal handler that forks may have interrupted a firing, which the child continues when the handler returns. The fork handlers
//! replace the thread's rings by private memory in such a child. Not covered: a bare system call in such a handler, and a handler that
//! interrupts a thread's first firing.

use std::cell::Cell;
use std::io;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64};

use dyntrace_probes::forks::{self, ZeroedByFork};
use dyntrace_probes::rings::cause;
use dyntrace_probes::rings::slot::{self, SESSIONS, SLOTS};
use dyntrace_probes::rings::stream_file::{self, StreamFile};
use dyntrace_probes::rings::{closed_in_children, descriptor, limits};
use dyntrace_probes::thread_progress;
use dyntrace_probes::thread_progress::Zeros;

use super::{probes, sessions};
#[cfg(all(recorded, target_os = "linux"))]
use dyntrace_processes::task_table;

/// The control socket of this process. A forked child has none.
pub(super) static CONTROL: ZeroedByFork<Control> = ZeroedByFork::new(Control {
    is_opening: AtomicBool::new(false),
    listener: AtomicI32::new(0),
    inode: AtomicU64::new(0),
});

/// The last control socket that this process has opened. Its file may be gone.
pub(super) struct Control {
    /// Whether a thread looks for it or opens it. Only that thread changes the others.
    pub is_opening: AtomicBool,
    /// Its descriptor plus 1; 0 without one.
    pub listener: AtomicI32,
    /// The inode of its file.
    pub inode: AtomicU64,
}

// SAFETY: atomics only, which own nothing.
unsafe impl Zeros for Control {}

thread_local! {
    /// The files of rings that the forking thread is writing to.
    static WRITTEN: [Cell<*const StreamFile>; SESSIONS] = const { [const { Cell::new(ptr::null()) }; SESSIONS] };
}

/// Makes each forked child begin without sessions. Repeated calls do nothing.
pub(super) fn begin_anew() -> io::Result<()> {
    static DONE: AtomicBool = AtomicBool::new(false);
    // No lock, which a fork could leave held. Two threads may both do all of this, which is harmless.
    if DONE.load(Acquire) {
        return Ok(());
    }
    forks::count()?;
    // The child reads the list, so it must be complete before any fork.
    descriptor::probes();
    thread_progress::os::in_forked_child(before, in_child)?;
    #[cfg(all(recorded, target_os = "linux"))]
    task_table::wipe_in_children();
    if SLOTS.wipe_in_children() && sessions::wipe_in_children() && CONTROL.wipe_in_children() {
        stream_file::leave_out_of_children();
    }
    DONE.store(true, Release);
    Ok(())
}

/// Runs in the forking thread.
extern "C" fn before() {
    let is_writing = thread_progress::is_pinned();
    WRITTEN.with(|written| {
        for (number, written) in written.iter().enumerate() {
            written.set(if is_writing { slot::own_file(number) } else { ptr::null() });
        }
    });
}

/// Runs in the child, on its only thread.
extern "C" fn in_child() {
    WRITTEN.with(|written| {
        for file in written.iter().map(|written| written.replace(ptr::null())) {
            // SAFETY: the file of a parent's ring, which was alive when the child was made, and which the child uses only for the firing
            // that it continues.
            unsafe {
                if let Some(file) = file.as_ref() {
                    file.make_private();
                }
            }
        }
    });
    closed_in_children::close();
    for probe in probes::present() {
        probe.clear_sessions();
    }
    cause::clear();
    limits::forget();
    // SAFETY: the child has one thread.
    unsafe {
        SLOTS.forget();
        sessions::forget();
        CONTROL.forget();
        #[cfg(all(recorded, target_os = "linux"))]
        task_table::forget();
    }
}
