//! The signals that this process gets while it runs a command, and whose they are.

use std::fs;
use std::io;
use std::thread;

use nix::libc::siginfo_t;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithRawSiginfo;

/// A signal.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    /// Its number.
    pub number: i32,
    /// Whether the terminal made it: then the traced command, in the same process group, has got it too.
    pub is_from_terminal: bool,
}

/// What a signal tells.
#[derive(Clone, Copy, Debug)]
pub enum Notice {
    /// Somebody wants something of this process, or of the command that it runs.
    Signal(Signal),
    /// A child has ended, or stopped, or goes on.
    ChildChanged,
}

/// Tells of every signal that concerns us, from a thread of its own, until `tell` says that nobody listens any more. Signals that were
/// ignored when this process started (`nohup` does that) stay ignored, here and in the command.
pub fn receive(tell: impl Fn(Notice) -> bool + Send + 'static) -> io::Result<()> {
    let ignored = ignored();
    let wanted = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD];
    let wanted = wanted.into_iter().filter(|number| ignored & (1 << (number - 1)) == 0);
    let mut signals = SignalsInfo::<WithRawSiginfo>::new(wanted)?;
    thread::spawn(move || {
        for info in signals.forever() {
            let notice = if info.si_signo == SIGCHLD {
                Notice::ChildChanged
            } else {
                Notice::Signal(Signal { number: info.si_signo, is_from_terminal: is_from_terminal(&info) })
            };
            if !tell(notice) {
                return;
            }
        }
    });
    Ok(())
}

/// Linux gives signals that a process sent a code of zero or less.
#[cfg(target_os = "linux")]
fn is_from_terminal(info: &siginfo_t) -> bool {
    info.si_code > 0
}

/// Elsewhere the codes differ; these are the signals that terminals make.
#[cfg(not(target_os = "linux"))]
fn is_from_terminal(info: &siginfo_t) -> bool {
    matches!(info.si_signo, SIGINT | SIGQUIT | SIGHUP)
}

/// The set of ignored signals, bit 0 for signal 1. Empty where /proc does not tell.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
