//! The user's command: its program and its process.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};

use anyhow::anyhow;
use dyntrace_terminal::escape;
use dyntrace_terminal::exit::{self, Failure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::tracer;

/// The file that a shell would run as `command`.
pub fn locate(command: &OsStr) -> Result<PathBuf, Failure> {
    let shown = escape::name(command.as_bytes());
    let not_found = |why: &str| Failure::new(exit::NOT_FOUND, anyhow!("cannot run {shown}: {why}"));
    if !command.as_bytes().contains(&b'/') {
        return tracer::in_path(command).next().ok_or_else(|| not_found("there is no such command in PATH"));
    }
    let path = Path::new(command);
    match path.metadata() {
        Err(error) => Err(not_found(&error.to_string())),
        Ok(metadata) if metadata.is_dir() => {
            Err(Failure::new(exit::NOT_EXECUTABLE, anyhow!("cannot run {shown}: it is a directory")))
        }
        Ok(_) if !tracer::is_executable(path) => {
            Err(Failure::new(exit::NOT_EXECUTABLE, anyhow!("cannot run {shown}: it is not executable; use chmod +x")))
        }
        Ok(_) => std::path::absolute(path).map_err(|error| not_found(&error.to_string())),
    }
}

/// The command's process. Dropping it kills a process that is still held, since nothing else would release it.
pub struct Running {
    child: Child,
    pub ended: Option<ExitStatus>,
    /// Whether it is held before its first instruction.
    pub is_held: bool,
}

impl Running {
    pub fn new(child: Child) -> Running {
        Running { child, ended: None, is_held: false }
    }

    pub fn held(child: Child) -> Running {
        Running { child, ended: None, is_held: true }
    }

    /// Updates `ended`.
    pub fn poll(&mut self) -> io::Result<()> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait()?;
        }
        Ok(())
    }

    /// Sends a signal to the process, unless it has ended.
    pub fn send(&self, signal: i32) {
        if self.ended.is_none()
            && let Ok(signal) = Signal::try_from(signal)
        {
            // It was not waited for, so the pid is still its own.
            let _ = kill(Pid::from_raw(self.child.id().cast_signed()), signal);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.is_held && self.ended.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
