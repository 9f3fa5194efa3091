//! On Linux a pidfd reports the end of any process, and the kernel signals a child whose parent has ended.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::sys::prctl;
use nix::sys::signal::{self, SigHandler, Signal};

/// For step 3.
pub use dyntrace_programs::process::when_ended;

/// Whether scripts name the process by its number.
pub const BY_NUMBER: bool = true;

/// Has the kernel send `command` SIGTERM when the thread that starts it ends, and keeps SIGPIPE from killing it. So DTrace can remove
/// its uprobes from the kernel. (For step 3.)
pub fn end_with_this_thread(command: &mut Command) {
    let prepare = || {
        prctl::set_pdeathsig(Signal::SIGTERM)?;
        // SAFETY: it installs no function of this program as a handler.
        unsafe { signal::signal(Signal::SIGPIPE, SigHandler::SigIgn) }?;
        Ok(())
    };
    // SAFETY: the closure runs in the child between fork and exec, where only async-signal-safe functions may be called: it makes two
    // system calls and turns their error numbers, without allocating, into an io::Error.
    unsafe { command.pre_exec(prepare) };
}
