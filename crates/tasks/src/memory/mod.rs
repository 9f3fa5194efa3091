//! The memory of the program that is read: a running process, or a core file.

/// Memory by address.
///
/// A reading of a running process is never one instant: what matters is read twice, or in one piece, by its callers.
pub trait Memory {
    /// Fills `bytes` from `address`.
    ///
    /// # Errors
    ///
    /// If any of these bytes cannot be read; `bytes` may have been changed then.
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable>;

    /// Returns the word at `address`.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn word(&self, address: u64) -> Result<u64, Unreadable> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

/// Memory that cannot be read: unmapped, or the program has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no memory can be read at {address:#x}")]
pub struct Unreadable {
    /// The first address asked for.
    pub address: u64,
}
