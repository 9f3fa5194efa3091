//! The memory of the program that is read: a running process, or a core file.

pub mod core_file;
pub mod core_notes;
mod gaps;
pub mod live;
pub mod maps;
mod pagemap;
pub mod resident;
pub mod source;
pub mod stacks;
pub mod stop;

/// Memory by address.
///
/// A reading of a running process is never one instant: callers read memory that must be consistent twice, or in one piece.
pub trait Memory {
    /// Fills `bytes` from `address`.
    ///
    /// # Errors
    ///
    /// If any of these bytes cannot be read; `bytes` may have been changed then.
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable>;

    /// Reads `pieces`, in order, and passes each to `take` with its index: `None` if it cannot be read.
    ///
    /// A running process answers many pieces with one system call.
    fn read_pieces(&self, pieces: &[Piece], take: &mut dyn FnMut(usize, Option<&[u8]>)) {
        let mut bytes = Vec::new();
        for (index, piece) in pieces.iter().enumerate() {
            bytes.resize(piece.length, 0);
            let read = self.read(piece.address, &mut bytes);
            take(index, read.is_ok().then_some(&bytes[..]));
        }
    }

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

/// Bytes to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Of the first byte.
    pub address: u64,
    /// In bytes.
    pub length: usize,
}

/// Memory that cannot be read: unmapped, or the program has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no memory can be read at {address:#x}")]
pub struct Unreadable {
    /// The first address asked for.
    pub address: u64,
}

/// Returns the word at `offset`, or `None` if `bytes` ends before it does.
#[must_use]
pub fn word_at(bytes: &[u8], offset: usize) -> Option<u64> {
    let word = bytes.get(offset..offset.checked_add(8)?)?;
    word.try_into().ok().map(u64::from_le_bytes)
}
