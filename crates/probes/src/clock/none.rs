//! CPUs without a known counter that user space can read.

pub(super) const NAME: &str = "none";

pub(super) fn read() -> u64 {
    0
}

pub(super) fn is_usable() -> bool {
    false
}
