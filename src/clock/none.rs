//! No counter that user space may read is known for this CPU.

pub(super) const NAME: &str = "none";

pub(super) fn read() -> u64 {
    0
}

pub(super) fn is_usable() -> bool {
    false
}
