//! Processes, as /proc shows them.

use std::fs;
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Whether there is a process of this number, also one that /proc hides.
#[must_use]
pub fn exists(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| !matches!(test_kill_process(pid), Err(Errno::SRCH)))
}

/// Returns the thread by whose number /proc shows the memory and the files of process `pid`: its first one, or if that has ended, another
/// one. `None` if all have ended: it is a zombie, for which its parent has not yet waited.
///
/// ```
/// use dyntrace_folders::living_thread;
///
/// let pid = std::process::id();
/// assert_eq!(living_thread(pid), Some(pid));
/// ```
#[must_use]
pub fn living_thread(pid: u32) -> Option<u32> {
    if !has_ended(&format!("/proc/{pid}/stat")) {
        return Some(pid);
    }
    let folder = format!("/proc/{pid}/task");
    let threads = fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut threads = threads.filter_map(|thread| thread.file_name().to_str()?.parse().ok());
    threads.find(|thread| *thread != pid && !has_ended(&format!("{folder}/{thread}/stat")))
}

/// Returns the folder in /proc that shows the memory and the files of process `pid`: that of its [`living_thread`]. Of a zombie it is the
/// process's own, which shows nothing of them.
///
/// ```
/// use dyntrace_folders::process_folder;
///
/// let pid = std::process::id();
/// assert_eq!(process_folder(pid), std::path::Path::new(&format!("/proc/{pid}")));
/// ```
#[must_use]
pub fn process_folder(pid: u32) -> PathBuf {
    PathBuf::from(format!("/proc/{}", living_thread(pid).unwrap_or(pid)))
}

/// Whether a thread has ended, or has begun to: then its memory and its files may be gone.
fn has_ended(stat: &str) -> bool {
    /// The kernel's flag PF_EXITING.
    const EXITING: u64 = 4;
    let stat = String::from_utf8_lossy(&fs::read(stat).unwrap_or_default()).into_owned();
    // The name stands before, in parentheses, and may contain any byte.
    let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let state = fields.next();
    let flags: Option<u64> = fields.nth(5).and_then(|flags| flags.parse().ok());
    matches!(state, Some("Z" | "X")) || flags.is_some_and(|flags| flags & EXITING != 0)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_zombie_has_no_living_thread() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        while living_thread(child.id()).is_some() {
            std::thread::yield_now();
        }
        assert!(exists(child.id()));
        child.wait().unwrap();
        assert!(!exists(child.id()) && !exists(u32::MAX));
    }
}
