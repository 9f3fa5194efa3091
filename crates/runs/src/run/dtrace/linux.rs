//! On Linux a pidfd reports the end of any process, and the kernel signals a child whose parent has ended.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::errno::Errno;
use nix::libc::SYS_write;
use nix::sys::prctl;
use nix::sys::signal::{self, SigHandler, Signal};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

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

/// A child that is stopped, until this is dropped.
pub struct Stopped(Pid);

impl Stopped {
    /// Stops the child `pid`, which was not waited for, or returns `None` if it is in a write. A write goes on as if it had not been
    /// stopped.
    pub fn between_writes(pid: u32) -> Option<Stopped> {
        let stopped = Stopped(Pid::from_raw(pid.cast_signed()));
        // It alone: a process that DTrace has started may be what DTrace waits for before it stops.
        let _ = signal::kill(stopped.0, Signal::SIGSTOP);
        let until = WaitPidFlag::WSTOPPED | WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
        while waitid(Id::Pid(stopped.0), until) == Err(Errno::EINTR) {}
        (!is_writing(pid)).then_some(stopped)
    }
}

/// Whether one of its threads is in a write, or has not come back from it.
fn is_writing(pid: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    let call = format!("{SYS_write} ");
    threads
        .flatten()
        .any(|thread| fs::read_to_string(thread.path().join("syscall")).is_ok_and(|now| now.starts_with(&call)))
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // An error means that it has ended.
        let _ = signal::kill(self.0, Signal::SIGCONT);
    }
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::hint::spin_loop;
    use std::io::{self, Read as _};
    use std::process::{self, Stdio};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use nix::sys::signal::{SaFlags, SigAction, SigSet, sigaction};
    use nix::unistd::write;

    use crate::run::at_work::is_at_work;

    use super::*;

    const WRITES: &str = "DYNTRACE_TEST_WRITES";

    /// Like DTrace: writes blocks until SIGTERM, which interrupts a write.
    fn write_blocks() -> ! {
        static IS_ENDED: AtomicBool = AtomicBool::new(false);
        extern "C" fn end(_: i32) {
            IS_ENDED.store(true, Ordering::Relaxed);
        }
        let action = SigAction::new(SigHandler::Handler(end), SaFlags::empty(), SigSet::empty());
        // SAFETY: the handler only stores to an atomic.
        unsafe { sigaction(Signal::SIGTERM, &action) }.unwrap();
        while !IS_ENDED.load(Ordering::Relaxed) {
            (0..100_000).for_each(|_| spin_loop());
            if write(io::stdout(), &[b'x'; 4096]).is_err() {
                process::exit(9);
            }
        }
        process::exit(0);
    }

    #[test]
    fn a_signal_interrupts_no_write() {
        if env::var_os(WRITES).is_some() {
            write_blocks();
        }
        let mut writer = Command::new(env::current_exe().unwrap());
        writer.args(["--exact", "run::dtrace::leaf::tests::a_signal_interrupts_no_write", "--nocapture"]);
        let mut writer = writer.env(WRITES, "1").stdout(Stdio::piped()).spawn().unwrap();
        let pid = writer.id();
        // A full pipe: the write lasts.
        while !is_writing(pid) || is_at_work(pid) {
            thread::yield_now();
        }
        assert!(Stopped::between_writes(pid).is_none());
        let mut out = writer.stdout.take().unwrap();
        let stopped = loop {
            out.read_exact(&mut [0; 4096]).unwrap();
            if let Some(stopped) = Stopped::between_writes(pid) {
                break stopped;
            }
        };
        signal::kill(stopped.0, Signal::SIGTERM).unwrap();
        drop(stopped);
        io::copy(&mut out, &mut io::sink()).unwrap();
        assert_eq!(writer.wait().unwrap().code(), Some(0));
    }
}
