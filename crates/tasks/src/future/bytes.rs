//! Integers of 1 to 16 bytes.

use crate::memory::Memory;

/// Reads a little-endian integer; `None` for other sizes and unreadable memory.
pub(super) fn integer(memory: &dyn Memory, address: u64, size: u64) -> Option<u128> {
    let mut bytes = [0; 16];
    let part = bytes.get_mut(..usize::try_from(size).ok()?).filter(|part| !part.is_empty())?;
    memory.read(address, part).ok()?;
    Some(u128::from_le_bytes(bytes))
}
