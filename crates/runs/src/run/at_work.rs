//! Whether a process is busy. A busy tracer may print nothing for a long time.

use std::fs;

/// Returns whether one of its threads runs, waits for a processor, or waits inside the kernel, as bpftrace does while its probes are
/// removed. False if procfs does not say.
pub fn is_at_work(pid: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    threads.flatten().any(|thread| fs::read(thread.path().join("stat")).is_ok_and(|stat| is_busy(&stat)))
}

/// The name stands in parentheses and may hold any byte; the state comes after it.
fn is_busy(stat: &[u8]) -> bool {
    let end = stat.iter().rposition(|&byte| byte == b')');
    end.and_then(|end| stat.get(end + 2)).is_some_and(|state| b"RD".contains(state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_thread() {
        assert!(is_busy(b"7 (bpftrace) R 1 7 7 0"));
        assert!(is_busy(b"7 (a) S b) D 1 7 7 0"));
        assert!(!is_busy(b"7 (D) R) S 1 7 7 0"));
        assert!(!is_busy(b"7 (bpftrace"));
        assert!(!is_busy(b""));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_works() {
        assert!(is_at_work(std::process::id()));
    }
}
