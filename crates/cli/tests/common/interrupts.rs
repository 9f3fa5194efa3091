//! Commands that heed signals, also where tests run in the background of a shell or under nohup, which has them ignored.

use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::signal::{SigHandler, Signal, signal};

/// Has the command begin as a terminal would have it begin.
pub fn heed(command: &mut Command) -> &mut Command {
    // SAFETY: one system call, which is safe after fork; the default action replaces a function of nobody's.
    unsafe {
        command.pre_exec(|| {
            for ignored in [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGHUP] {
                signal(ignored, SigHandler::SigDfl)?;
            }
            Ok(())
        })
    }
}
