//! Checks whether this user may read a process's memory, as a debugger may.

use std::fs::File;
use std::io;

use super::finding::Finding;

const TOPIC: &str = "memory";

pub fn check(pid: u32) -> Finding {
    // The kernel checks the permission when the file is opened.
    finding(pid, File::open(format!("/proc/{pid}/mem")).map(drop))
}

fn finding(pid: u32, opened: io::Result<()>) -> Finding {
    const COMMANDS: &str = "dyntrace ps, tree, why, threads and polls";
    match opened {
        Ok(()) => Finding::ok(TOPIC, format!("this user may read the memory of process {pid}, as {COMMANDS} do")),
        Err(error) => {
            let text = format!("{COMMANDS} cannot read the memory of process {pid}: {error}");
            match error.kind() {
                io::ErrorKind::PermissionDenied => Finding::warn(TOPIC, text, dyntrace_tasks::permission::way()),
                _ => Finding::unknown(TOPIC, text, "see whether the process still runs"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Status;

    #[test]
    fn a_refusal_has_a_way_out() {
        assert_eq!(check(std::process::id()).status, Status::Ok);
        let refused = finding(7, Err(io::ErrorKind::PermissionDenied.into()));
        assert_eq!(refused.status, Status::Warn);
        assert_eq!(finding(7, Err(io::ErrorKind::NotFound.into())).status, Status::Unknown);
        assert_eq!(refused.remedy.unwrap().contains("run as root"), !nix::unistd::geteuid().is_root());
    }
}
