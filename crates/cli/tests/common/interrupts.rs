//! Commands that handle signals, even if the tests run in the background of a shell or under nohup, which ignore them.

use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::signal::{SigHandler, Signal, signal};

/// Resets the signals of the command to those of a terminal.
pub fn heed(command: &mut Command) -> &mut Command {
    // SAFETY: one system call, which is safe after fork; the default action replaces no other handler.
    unsafe {
        command.pre_exec(|| {
            for ignored in [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGHUP] {
                signal(ignored, SigHandler::SigDfl)?;
            }
            Ok(())
        })
    }
}
