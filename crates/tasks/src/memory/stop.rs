//! Stops a process while it is read.

use std::fs;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::live::{Process, parse_status};
use crate::error::Error;

/// How long the process's threads may take to stop. One in an uninterruptible system call takes as long as that.
const PATIENCE: Duration = Duration::from_millis(500);

/// A process that is stopped until this is dropped, also by a panic.
///
/// A process that was stopped before stays so. If the reader is killed, `kill -CONT PID` continues the process.
#[derive(Debug)]
pub struct Stopped {
    /// Names the process even if its id is reused. `None` if it was stopped already.
    process: Option<std::os::fd::OwnedFd>,
}

impl Stopped {
    /// Stops the process's threads and waits until all of them stand, or for half a second.
    ///
    /// # Errors
    ///
    /// If the reader may not signal the process, or the process has ended.
    pub fn new(process: &Process) -> Result<Stopped, Error> {
        let pid = process.pid();
        let failed = |error| match error {
            Errno::SRCH => Error::Ended { pid },
            error => Error::NotStopped { pid, source: error.into() },
        };
        let raw = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(Error::NoProcess { pid })?;
        let descriptor = pidfd_open(raw, PidfdFlags::empty()).map_err(failed)?;
        // The descriptor names this process from here on, so a reused id shows now or never.
        process.check()?;
        if all_stopped(process).unwrap_or(false) {
            return Ok(Stopped { process: None });
        }
        pidfd_send_signal(&descriptor, Signal::STOP).map_err(failed)?;
        let stopped = Stopped { process: Some(descriptor) };
        let begun = Instant::now();
        while !all_stopped(process).unwrap_or(true) && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_micros(200));
        }
        Ok(stopped)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        if let Some(process) = &self.process {
            // It fails only for a process that has ended.
            let _ = pidfd_send_signal(process, Signal::CONT);
        }
    }
}

fn all_stopped(process: &Process) -> io::Result<bool> {
    for thread in fs::read_dir(process.proc("task"))? {
        let stat = fs::read(thread?.path().join("stat")).unwrap_or_default();
        // A thread that has ended meanwhile has no file.
        if parse_status(&stat).is_some_and(|status| !matches!(status.state, b'T' | b't' | b'Z' | b'X')) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    struct Sleeper(Child);

    impl Drop for Sleeper {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn continues_the_process_also_after_a_panic() {
        let sleeper = Sleeper(Command::new("sleep").arg("60").spawn().unwrap());
        let process = Process::open(sleeper.0.id()).unwrap();
        let panicked = std::panic::catch_unwind(|| {
            let _stopped = Stopped::new(&process).unwrap();
            assert!(all_stopped(&process).unwrap());
            // Of a process that is stopped already.
            drop(Stopped::new(&process).unwrap());
            assert!(all_stopped(&process).unwrap());
            std::panic::resume_unwind(Box::new(()));
        });
        assert!(panicked.is_err());
        assert!(!all_stopped(&process).unwrap());
    }
}
