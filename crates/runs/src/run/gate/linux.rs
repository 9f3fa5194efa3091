//! On Linux: the command runs up to its first instruction under ptrace, gets a jump to itself there, and runs on without ptrace.
//!
//! A process stopped by a signal would be simpler, but a tracer may take it for a process of a debugger. A process in an endless loop
//! looks like any other to every tracer.
//!
//! 1. The child asks to be traced and executes the command; the kernel stops it at the first instruction of the dynamic linker.
//! 2. The first word of the program itself is saved, and replaced by an instruction that does not exist. The child goes on: the dynamic
//!    linker loads the libraries, and makes read-only pages read-only. (Before that, the kernel may count a semaphore in the wrong copy
//!    of its page.)
//! 3. The instruction stops it. It is replaced by the jump, and the child is detached: it runs the loop.
//! 4. The tracer does its work.
//! 5. The word is put back, and the child runs its first instruction.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};

use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use super::Started;

/// Whether commands can be held here.
pub const IS_SUPPORTED: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// A jump to itself, and an instruction that does not exist.
#[cfg(target_arch = "aarch64")]
const JUMP: [u8; 4] = [0x00, 0x00, 0x00, 0x14];
#[cfg(target_arch = "aarch64")]
const NO_INSTRUCTION: [u8; 4] = [0; 4];
#[cfg(not(target_arch = "aarch64"))]
const JUMP: [u8; 2] = [0xeb, 0xfe];
#[cfg(not(target_arch = "aarch64"))]
const NO_INSTRUCTION: [u8; 2] = [0x0f, 0x0b];

/// A child before its first instruction.
#[derive(Debug)]
pub struct Held {
    memory: File,
    entry: u64,
    word: [u8; JUMP.len()],
    guard: Guard,
}

impl Held {
    /// Lets the child run. (Step 5.)
    pub fn release(self) -> io::Result<()> {
        // A child that has begun goes on even if this process is killed.
        drop(self.guard);
        // The jump lies within one word, which the processor fetches whole: it sees the old instruction or the new one.
        self.memory.write_all_at(&self.word, self.entry)
    }
}

/// A shell that kills the child if this process is killed: otherwise the child would spin forever.
#[derive(Debug)]
struct Guard(Child);

impl Guard {
    fn over(child: &Child) -> io::Result<Guard> {
        // The other end of its input closes with this process.
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "read -r _ || kill -KILL $0", &child.id().to_string()]);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let cannot = |error: io::Error| io::Error::new(error.kind(), format!("its guard, /bin/sh: {error}"));
        shell.spawn().map(Guard).map_err(cannot)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(mut input) = self.0.stdin.take() {
            let _ = input.write_all(b"\n");
        }
        let _ = self.0.wait();
    }
}

/// Starts `command` and holds it; `entry` tells the address of the first instruction in the process of the given number.
pub fn hold(command: &mut Command, entry: impl Fn(u32) -> io::Result<u64>) -> io::Result<Started> {
    // SAFETY: the closure runs in the child between fork and exec, where only async-signal-safe functions may be called: it makes one
    // system call and turns its error number, without allocating, into an io::Error.
    unsafe { command.pre_exec(|| ptrace::traceme().map_err(io::Error::from)) };
    let mut child = command.spawn()?;
    match circle(&child, entry) {
        Ok(started) => Ok(started.map(|held| (child, held))),
        Err(error) => {
            // Ends the child, if it still runs.
            let _ = child.kill();
            let _ = child.wait();
            Err(error)
        }
    }
}

/// Steps 1 to 3. Returns the status of a child that ends before it is held.
fn circle(child: &Child, entry: impl Fn(u32) -> io::Result<u64>) -> io::Result<Result<Held, ExitStatus>> {
    let guard = Guard::over(child)?;
    let pid = Pid::from_raw(child.id().cast_signed());
    if let Err(status) = next_stop(pid, Signal::SIGTRAP)? {
        return Ok(Err(status));
    }
    let entry = entry(child.id())?;
    let memory = OpenOptions::new().read(true).write(true).open(format!("/proc/{pid}/mem"))?;
    let mut word = [0; JUMP.len()];
    memory.read_exact_at(&mut word, entry)?;
    memory.write_all_at(&NO_INSTRUCTION, entry)?;
    ptrace::cont(pid, None)?;
    if let Err(status) = next_stop(pid, Signal::SIGILL)? {
        return Ok(Err(status));
    }
    memory.write_all_at(&JUMP, entry)?;
    ptrace::detach(pid, None)?;
    Ok(Ok(Held { memory, entry, word, guard }))
}

/// Waits until the child stops with `signal`, and passes other signals to the child. Returns the status of a child that ends instead.
fn next_stop(pid: Pid, signal: Signal) -> io::Result<Result<(), ExitStatus>> {
    loop {
        match waitpid(pid, None)? {
            WaitStatus::Stopped(_, stop) if stop == signal => return Ok(Ok(())),
            WaitStatus::Stopped(_, other) => ptrace::cont(pid, other)?,
            WaitStatus::Exited(_, code) => return Ok(Err(ExitStatus::from_raw((code & 0xff) << 8))),
            WaitStatus::Signaled(_, signal, _) => return Ok(Err(ExitStatus::from_raw(signal as i32))),
            _ => {}
        }
    }
}
