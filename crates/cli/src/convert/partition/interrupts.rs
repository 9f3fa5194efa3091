//! Signals that end a converter that follows recordings.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use signal_hook::low_level::emulate_default_handler;

use crate::signals::{self, Notice};

/// The signals that ask this command to end.
pub struct Interrupts(Receiver<()>);

impl Interrupts {
    /// Receives signals from now on. The second one ends the command at once: a round of large recordings takes long.
    pub fn receive() -> anyhow::Result<Interrupts> {
        let (sender, receiver) = mpsc::channel();
        let is_told = AtomicBool::new(false);
        let tell = move |notice| {
            let Notice::Signal(signal) = notice else { return true };
            if signal.ends_command() && is_told.swap(true, Ordering::Relaxed) {
                let _ = emulate_default_handler(signal.number);
            }
            // Nobody receives when the command is about to end.
            let _ = signal.ends_command().then(|| sender.send(()));
            true
        };
        signals::receive(tell)?;
        Ok(Interrupts(receiver))
    }

    /// Sleeps that long, or until a signal arrives. Returns whether one has arrived since the last call.
    pub fn wait(&self, time: Duration) -> bool {
        match self.0.recv_timeout(time) {
            Ok(()) => true,
            Err(RecvTimeoutError::Timeout) => false,
            // Every signal that could end this command is ignored.
            Err(RecvTimeoutError::Disconnected) => {
                thread::sleep(time);
                false
            }
        }
    }
}
