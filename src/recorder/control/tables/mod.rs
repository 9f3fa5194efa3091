//! The table of tasks: its file, beside the control sockets, and the probes at which it is kept.
//!
//! The file is `PID.tasks`. It stays when its process ends, so that the tasks of a killed process can be read. The next process that starts
//! a table removes those of ended processes except for the newest eight, by the time of their last change. One with the same number first renames the table that it finds to
//! `PID-TIME.tasks`.

#[cfg(recorded)]
mod table_file;

use dyntrace_probes::host;
#[cfg(recorded)]
use table_file::keep;

use super::error::ControlError;

/// Keeps a table of the program's tasks from now on, which `dyntrace ps --dead FILE` reads.
///
/// A task is in the table if it is started by [`spawn`](crate::spawn), [`spawn_local`](crate::spawn_local),
/// [`spawn_blocking`](crate::spawn_blocking), a [`JoinSet`](crate::task::JoinSet), [`JoinSetExt`](crate::JoinSetExt) or
/// [`child`](crate::process::child) after this call, by the program itself: tasks of loaded modules are not. In programs that are built
/// with `tokio_unstable`, all tasks of runtimes of `dyntrace::runtime` are. The table is a file in `$XDG_RUNTIME_DIR/dyntrace`, or in
/// `/tmp/dyntrace-UID` without a runtime folder: `PID.tasks`. It stays when the program ends or is killed; the next program that has the
/// same number and keeps a table renames it to `PID-TIME.tasks`, with the nanoseconds from 1970 to its last change.
///
/// Further calls do nothing. A forked child has no table; it may call this again. `DYNTRACE=tasks` in the environment does the same without
/// a call.
///
/// # Errors
///
/// [`ControlError`] if the folder belongs to another user or is open to others, the file cannot be created, grown or mapped, or the program
/// is built without probes. The program can continue without.
///
/// ```no_run
/// dyntrace::recorder::tasks()?;
/// # Ok::<(), dyntrace::recorder::control::ControlError>(())
/// ```
pub fn tasks() -> Result<(), ControlError> {
    if host::is_guest() {
        let refused = host::refused("the table of tasks", "start it in the program");
        return Err(ControlError::system("keep a table of tasks")(refused));
    }
    keep()
}

#[cfg(not(recorded))]
fn keep() -> Result<(), ControlError> {
    use std::io;

    let unsupported = io::Error::new(io::ErrorKind::Unsupported, "the program is built without probes");
    Err(ControlError::system("keep a table of tasks")(unsupported))
}
