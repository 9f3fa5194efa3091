//! The signals that this process receives while it runs a command.
//!
//! One thread receives them all, from the first call of this room on. Each signal goes to the command's receiver. Before there is one, and
//! after it is gone, a signal ends the command at once: then the cleanups run first, such as the removal of temporary files.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use nix::libc::siginfo_t;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithRawSiginfo;
use signal_hook::low_level::emulate_default_handler;

use crate::own;

/// A signal that this process received.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    /// Its number.
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

/// A thing that the receiver is told.
#[derive(Clone, Copy, Debug)]
pub enum Notice {
    /// A signal for this process, or for the command.
    Signal(Signal),
    /// A child ended, stopped or continued.
    ChildChanged,
}

/// The outcome of handing a notice to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handover {
    Received,
    /// The receiver does not act on the notices before.
    EndNow,
    /// There is no receiver any more.
    Gone,
}

static ROOM: Mutex<Room> =
    Mutex::new(Room { is_started: false, tell: None, is_one_dropped: false, cleanups: BTreeMap::new(), next: 0 });

struct Room {
    is_started: bool,
    tell: Option<Box<dyn FnMut(Notice) -> Handover + Send>>,
    is_one_dropped: bool,
    cleanups: BTreeMap<u64, Box<dyn Fn() + Send>>,
    next: u64,
}

fn room() -> MutexGuard<'static, Room> {
    ROOM.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Room {
    /// Starts the thread. Signals that were ignored when this process started, as with `nohup`, stay ignored, here and in the command.
    fn start(&mut self) -> anyhow::Result<()> {
        if self.is_started {
            return Ok(());
        }
        // Bit 0 is signal 1.
        let ignored = own::mask("SigIgn").unwrap_or(0);
        let wanted = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD];
        let wanted = wanted.into_iter().filter(|number| ignored & (1 << (number - 1)) == 0);
        let mut signals = SignalsInfo::<WithRawSiginfo>::new(wanted).context("cannot receive signals")?;
        thread::spawn(move || {
            for info in signals.forever() {
                room().take(if info.si_signo == SIGCHLD {
                    Notice::ChildChanged
                } else {
                    Notice::Signal(Signal { number: info.si_signo, is_from_terminal: is_from_terminal(&info) })
                });
            }
        });
        self.is_started = true;
        Ok(())
    }

    fn take(&mut self, notice: Notice) {
        let told = self.tell.as_mut().map_or(Handover::EndNow, |tell| tell(notice));
        let Notice::Signal(signal) = notice else { return };
        let ends = match told {
            Handover::Received => false,
            Handover::EndNow => true,
            // The user may have meant the wait that has just ended.
            Handover::Gone => signal.ends_command() && std::mem::replace(&mut self.is_one_dropped, true),
        };
        if ends && signal.ends_command() {
            self.cleanups.values().for_each(|cleanup| cleanup());
            let _ = emulate_default_handler(signal.number);
        }
    }
}

/// Calls `tell` for every signal and every change of a child. `tell` returns false if there is no receiver any more. The first signal after
/// that is dropped, the second one ends the command.
pub fn receive(tell: impl Fn(Notice) -> bool + Send + 'static) -> anyhow::Result<()> {
    receive_by(move |notice| if tell(notice) { Handover::Received } else { Handover::Gone })
}

fn receive_by(tell: impl FnMut(Notice) -> Handover + Send + 'static) -> anyhow::Result<()> {
    let mut room = room();
    room.start()?;
    room.tell = Some(Box::new(tell));
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

/// The signals that ask a command to end which watches, follows or serves: all but those that users define.
pub struct Interrupts(Receiver<Signal>);

impl Interrupts {
    /// Receives them from now on. That `last` of them ends the command at once, as it may wait for a process, a disk or a reader of its
    /// output. `timeout` sends each signal to the process and to its group, so it may arrive twice.
    pub fn receive(last: u32) -> anyhow::Result<Interrupts> {
        let (sender, receiver) = mpsc::channel();
        let mut received = 0;
        receive_by(move |notice| match notice {
            Notice::Signal(signal) if signal.ends_command() => {
                received += 1;
                match sender.send(signal) {
                    _ if received >= last => Handover::EndNow,
                    Ok(()) => Handover::Received,
                    Err(_) => Handover::Gone,
                }
            }
            _ => Handover::Received,
        })?;
        Ok(Interrupts(receiver))
    }

    /// Waits at most `pause` for the next one. Returns `None` if none came.
    pub fn wait(&self, pause: Duration) -> Option<Signal> {
        match self.0.recv_timeout(pause) {
            Ok(signal) => Some(signal),
            Err(RecvTimeoutError::Timeout) => None,
            // Another receiver has taken over.
            Err(RecvTimeoutError::Disconnected) => {
                thread::sleep(pause);
                None
            }
        }
    }

    /// Waits for the next one.
    pub fn wait_long(&self) -> Option<Signal> {
        self.0.recv().ok()
    }
}

/// A cleanup that runs if a signal ends the command at once. Dropping this takes it back.
#[derive(Debug)]
pub struct Cleanup(u64);

/// Registers a cleanup. It must not wait for another thread.
pub fn clean_up(cleanup: impl Fn() + Send + 'static) -> anyhow::Result<Cleanup> {
    let mut room = room();
    room.start()?;
    room.next += 1;
    let number = room.next;
    room.cleanups.insert(number, Box::new(cleanup));
    Ok(Cleanup(number))
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        room().cleanups.remove(&self.0);
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
