//! Stops a process while it is read.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use super::live::{Process, parse_status};
use crate::error::Error;

/// How long the process's threads may take to stop. One in an uninterruptible system call takes as long as that.
const PATIENCE: Duration = Duration::from_millis(500);

/// A process that is stopped until this is dropped, also by a panic.
///
/// A process that was stopped before stays so. If the reader is killed, `kill -CONT PID` continues the process.
#[derive(Debug)]
pub struct Stopped<'p> {
    process: &'p Process,
    number: Pid,
    /// Names the process even if its id is reused. `None` before Linux 5.3, and where a filter refuses it.
    descriptor: Option<OwnedFd>,
    /// Whether it was running before.
    continues: bool,
}

impl Stopped<'_> {
    /// Stops the process's threads and waits until all of them stand, or for half a second.
    ///
    /// # Errors
    ///
    /// If the reader may not signal the process, or the process has ended.
    pub fn new(process: &Process) -> Result<Stopped<'_>, Error> {
        let pid = process.pid();
        let failed = |error| match error {
            Errno::SRCH => Error::Ended { pid },
            error => Error::NotStopped { pid, error: error.into() },
        };
        let number = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(Error::NoProcess { pid })?;
        let descriptor = match pidfd_open(number, PidfdFlags::empty()) {
            Err(Errno::NOSYS | Errno::PERM) => None,
            opened => Some(opened.map_err(failed)?),
        };
        // The descriptor names this process from here on, so a reused id shows now or never.
        process.check()?;
        let mut stopped = Stopped { process, number, descriptor, continues: false };
        if all_stopped(process).unwrap_or(false) {
            return Ok(stopped);
        }
        stopped.signal(Signal::STOP).map_err(failed)?;
        stopped.continues = true;
        let begun = Instant::now();
        while !all_stopped(process).unwrap_or(true) && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_micros(200));
        }
        Ok(stopped)
    }

    fn signal(&self, signal: Signal) -> rustix::io::Result<()> {
        match self.descriptor.as_ref().map(|descriptor| pidfd_send_signal(descriptor, signal)) {
            None | Some(Err(Errno::NOSYS | Errno::PERM)) => {
                self.process.check().map_err(|_| Errno::SRCH)?;
                kill_process(self.number, signal)
            }
            Some(sent) => sent,
        }
    }
}

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        if self.continues {
            // It fails only for a process that has ended.
            let _ = self.signal(Signal::CONT);
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
    use crate::filtered::refuse;

    struct Sleeper(Child);

    impl Drop for Sleeper {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn stops_the_process_without_descriptors_of_processes() {
        let refused = |calls: &'static [libc::c_long], error| {
            std::thread::spawn(move || match refuse(calls, error) {
                Ok(()) => continues_the_process_also_after_a_panic(),
                Err(error) => println!("left out: calls cannot be filtered here: {error}"),
            })
        };
        for thread in [
            refused(&[libc::SYS_pidfd_open], libc::ENOSYS),
            refused(&[libc::SYS_pidfd_open], libc::EPERM),
            refused(&[libc::SYS_pidfd_send_signal], libc::ENOSYS),
        ] {
            thread.join().unwrap();
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
