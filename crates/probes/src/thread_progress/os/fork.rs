//! Fork handlers.

use std::io;

/// Runs `handler` in each child that the process forks from now on.
#[cfg(not(miri))]
pub fn after_fork_in_child(handler: extern "C" fn()) -> io::Result<()> {
    // SAFETY: the handler lives as long as the program.
    match unsafe { libc::pthread_atfork(None, None, Some(handler)) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Runs `before` in each thread that forks from now on, and `after` when it has forked, in the parent and in the child.
#[cfg(not(miri))]
pub fn around_fork(before: extern "C" fn(), after: extern "C" fn()) -> io::Result<()> {
    // SAFETY: the handlers live as long as the program.
    match unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after)) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Runs `before` in each thread that forks from now on, and `in_child` in the child.
#[cfg(not(miri))]
pub fn in_forked_child(before: extern "C" fn(), in_child: extern "C" fn()) -> io::Result<()> {
    // SAFETY: the handlers live as long as the program.
    match unsafe { libc::pthread_atfork(Some(before), None, Some(in_child)) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Miri does not fork.
#[cfg(miri)]
pub fn in_forked_child(_before: extern "C" fn(), _in_child: extern "C" fn()) -> io::Result<()> {
    Ok(())
}

/// Miri does not fork.
#[cfg(miri)]
pub fn around_fork(_before: extern "C" fn(), _after: extern "C" fn()) -> io::Result<()> {
    Ok(())
}

/// Miri does not fork.
#[cfg(miri)]
pub fn after_fork_in_child(_handler: extern "C" fn()) -> io::Result<()> {
    Ok(())
}
