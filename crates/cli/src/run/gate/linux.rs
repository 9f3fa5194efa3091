//! On Linux: the command starts under ptrace, gets a jump to itself as its first instruction, and runs on without ptrace.
//!
//! A process that is stopped by a signal would be simpler, but DTrace's debugger library never lets such a process go. One that runs
//! in a circle looks to every tracer like any other process.
//!
//! 1. The child asks to be traced and executes the command; the kernel stops it at the first instruction.
//! 2. The word there is saved, and replaced by the jump.
//! 3. The child is detached: it runs in its circle.
//! 4. The tracer does its work.
//! 5. The word is put back, and the child runs its first instruction.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

/// Whether commands can be held here.
pub const IS_SUPPORTED: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// A jump to itself.
#[cfg(target_arch = "aarch64")]
const JUMP: [u8; 4] = [0x00, 0x00, 0x00, 0x14];
#[cfg(not(target_arch = "aarch64"))]
const JUMP: [u8; 2] = [0xeb, 0xfe];

/// A child before its first instruction.
#[derive(Debug)]
pub struct Held {
    memory: File,
    entry: u64,
    word: [u8; JUMP.len()],
}

impl Held {
    /// Lets the child run. (Step 5.)
    pub fn release(self) -> io::Result<()> {
        // The jump lies within one word, which the processor fetches whole: it sees the old instruction or the new one.
        self.memory.write_all_at(&self.word, self.entry)
    }
}

/// Starts `command` and holds it.
pub fn hold(command: &mut Command) -> io::Result<(Child, Held)> {
    // SAFETY: the closure runs in the child between fork and exec, where only async-signal-safe functions may be called: it makes one
    // system call and turns its error number, without allocating, into an io::Error.
    unsafe { command.pre_exec(|| ptrace::traceme().map_err(io::Error::from)) };
    let mut child = command.spawn()?;
    match circle(&child) {
        Ok(held) => Ok((child, held)),
        Err(error) => {
            // Whether it still runs or not, nothing of it may stay behind.
            let _ = child.kill();
            let _ = child.wait();
            Err(error)
        }
    }
}

fn circle(child: &Child) -> io::Result<Held> {
    let pid = Pid::from_raw(child.id().cast_signed());
    match waitpid(pid, None)? {
        WaitStatus::Stopped(_, Signal::SIGTRAP) => {}
        status => return Err(io::Error::other(format!("it ended before it began: {status:?}"))),
    }
    let entry = next_instruction(pid)?;
    let memory = OpenOptions::new().read(true).write(true).open(format!("/proc/{pid}/mem"))?;
    let mut word = [0; JUMP.len()];
    memory.read_exact_at(&mut word, entry)?;
    memory.write_all_at(&JUMP, entry)?;
    ptrace::detach(pid, None)?;
    Ok(Held { memory, entry, word })
}

/// The last field of the line that /proc has for a stopped process, on every processor.
fn next_instruction(pid: Pid) -> io::Result<u64> {
    let line = fs::read_to_string(format!("/proc/{pid}/syscall"))?;
    line.split_whitespace()
        .last()
        .and_then(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok())
        .ok_or_else(|| io::Error::other(format!("/proc/{pid}/syscall does not tell where it stands: {line}")))
}
