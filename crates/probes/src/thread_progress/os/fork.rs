//! Fork handlers.

use std::io;

type Handler = extern "C" fn();

/// Runs `handler` in each child that the process forks from now on.
pub fn after_fork_in_child(handler: Handler) -> io::Result<()> {
    register(None, None, handler)
}

/// Runs `before` in each thread that forks from now on, and `after` when it has forked, in the parent and in the child.
pub fn around_fork(before: Handler, after: Handler) -> io::Result<()> {
    register(Some(before), Some(after), after)
}

/// Runs `before` in each thread that forks from now on, and `in_child` in the child.
pub fn in_forked_child(before: Handler, in_child: Handler) -> io::Result<()> {
    register(Some(before), None, in_child)
}

#[cfg(not(miri))]
fn register(before: Option<Handler>, in_parent: Option<Handler>, in_child: Handler) -> io::Result<()> {
    let as_c = |handler: Handler| handler as unsafe extern "C" fn();
    // SAFETY: the handlers live as long as the program.
    match unsafe { libc::pthread_atfork(before.map(as_c), in_parent.map(as_c), Some(in_child)) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Miri does not fork.
#[cfg(miri)]
fn register(_before: Option<Handler>, _in_parent: Option<Handler>, _in_child: Handler) -> io::Result<()> {
    Ok(())
}
