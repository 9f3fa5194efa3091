//! Checks whether this user may read a process's memory, as a debugger may.

use dyntrace_tasks::error::Error;
use dyntrace_tasks::memory::live::Process;

use super::finding::Finding;

const TOPIC: &str = "memory";

pub fn check(pid: u32) -> Finding {
    finding(pid, Process::open(pid).and_then(|process| process.may_read()))
}

fn finding(pid: u32, read: Result<(), Error>) -> Finding {
    const COMMANDS: &str = "dyntrace diagnose, ps, tree, why, leaks, threads and polls";
    match read {
        Ok(()) => Finding::ok(TOPIC, format!("this user may read the memory of process {pid}, as {COMMANDS} do")),
        Err(error) => {
            let is_refused = matches!(error, Error::NotPermitted { .. } | Error::Hidden { .. });
            let error = error.to_string();
            let (what, remedy) = error.rsplit_once("; ").unwrap_or((&error, "see whether the process still runs"));
            let text = format!("{COMMANDS} cannot read the memory of process {pid}: {what}");
            if is_refused { Finding::warn(TOPIC, text, remedy) } else { Finding::unknown(TOPIC, text, remedy) }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::doctor::finding::Status;
    use crate::filtered::refuse;

    #[test]
    fn a_refusal_has_a_way_out() {
        let own = || check(std::process::id()).status;
        assert_eq!(own(), Status::Ok);
        // The commands have another way.
        let filtered = move || refuse(&[nix::libc::SYS_process_vm_readv], nix::libc::EPERM).map(|()| own());
        assert!(!matches!(std::thread::spawn(filtered).join().unwrap(), Ok(Status::Warn | Status::Fail)));
        let error = io::ErrorKind::PermissionDenied.into();
        let refused = finding(7, Err(Error::NotPermitted { pid: 7, what: "the memory", error }));
        assert_eq!(refused.status, Status::Warn);
        assert_eq!(finding(7, Err(Error::Ended { pid: 7 })).status, Status::Unknown);
        assert_eq!(refused.remedy.unwrap().contains("run as root"), !nix::unistd::geteuid().is_root());
    }
}
