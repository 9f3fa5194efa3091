//! This process, as the kernel describes it.

use std::fs;

/// A mask of bits in /proc/thread-self/status; `None` if it is not there.
pub fn mask(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/thread-self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}
