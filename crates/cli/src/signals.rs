//! The signals that this process receives while it runs a command.

use std::mem;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use nix::libc::siginfo_t;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithRawSiginfo;
use signal_hook::low_level::emulate_default_handler;

use crate::process;

#[derive(Clone, Copy, Debug)]
pub struct Signal {
    pub number: i32,
    /// Whether the terminal sent it: then the command, in the same process group, also got it.
    pub is_from_terminal: bool,
}

impl Signal {
    /// Whether it asks a command that only watches to end.
    pub fn ends_command(self) -> bool {
        !matches!(self.number, SIGUSR1 | SIGUSR2)
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Notice {
    /// A signal for this process, or for the command.
    Signal(Signal),
    /// A child ended, stopped or continued.
    ChildChanged,
}

/// Calls `tell` for every signal, in a thread of its own. `tell` returns false if there is no receiver any more. The first such signal is
/// dropped: the user may have meant the wait that has just ended. The second one acts as if nobody had asked for signals. Signals that were
/// ignored when this process started, as with `nohup`, stay ignored, here and in the command.
pub fn receive(tell: impl Fn(Notice) -> bool + Send + 'static) -> anyhow::Result<()> {
    // Bit 0 is signal 1.
    let ignored = process::own_mask("SigIgn").unwrap_or(0);
    let wanted = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD];
    let wanted = wanted.into_iter().filter(|number| ignored & (1 << (number - 1)) == 0);
    let mut signals = SignalsInfo::<WithRawSiginfo>::new(wanted).context("cannot receive signals")?;
    thread::spawn(move || {
        let mut is_one_dropped = false;
        for info in signals.forever() {
            let notice = if info.si_signo == SIGCHLD {
                Notice::ChildChanged
            } else {
                Notice::Signal(Signal { number: info.si_signo, is_from_terminal: is_from_terminal(&info) })
            };
            if !tell(notice)
                && let Notice::Signal(signal) = notice
                && signal.ends_command()
                && mem::replace(&mut is_one_dropped, true)
            {
                let _ = emulate_default_handler(signal.number);
            }
        }
    });
    Ok(())
}

/// Waits at most `pause` for the next notice. Returns `None` if none came.
///
/// # Errors
///
/// The thread that receives signals has ended.
pub fn next<T>(notices: &Receiver<T>, pause: Duration) -> anyhow::Result<Option<T>> {
    match notices.recv_timeout(pause) {
        Ok(notice) => Ok(Some(notice)),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => bail!("the thread that receives signals has ended"),
    }
}

/// On Linux, a signal that a process sent has a code of zero or less.
#[cfg(target_os = "linux")]
fn is_from_terminal(info: &siginfo_t) -> bool {
    info.si_code > 0
}

/// On other systems the codes differ; these are the signals that terminals send.
#[cfg(not(target_os = "linux"))]
fn is_from_terminal(info: &siginfo_t) -> bool {
    matches!(info.si_signo, SIGINT | SIGQUIT | SIGHUP)
}
