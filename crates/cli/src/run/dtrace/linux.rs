//! On Linux a file descriptor tells when a process ends that is nobody's child here.

use std::io;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Whether scripts name the process by its number.
pub const BY_NUMBER: bool = true;

/// Calls `then` when process `pid` has ended. (For step 3.)
pub fn when_ended(pid: u32, then: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let process = pid.try_into().ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
    let process = match pidfd_open(process, PidfdFlags::empty()) {
        Err(Errno::SRCH) => None,
        opened => Some(opened?),
    };
    thread::spawn(move || {
        if let Some(process) = process {
            while let Err(Errno::INTR) = poll(&mut [PollFd::new(&process, PollFlags::IN)], None) {}
        }
        then();
    });
    Ok(())
}
