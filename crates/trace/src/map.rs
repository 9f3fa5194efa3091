//! Files in memory: the leaf that maps them.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file mapped for reading. Nothing of it stays open but the mapping, so that traces of many threads need no
/// descriptors.
#[derive(Debug)]
pub(crate) struct Map(Option<memmap2::Mmap>);

impl Map {
    /// Maps the file as long as it is now.
    pub(crate) fn new(file: &File) -> io::Result<Self> {
        if file.metadata()?.len() == 0 {
            return Ok(Self(None));
        }
        // SAFETY: The mapping is only read. A recorder that still writes the file changes a byte that is read here only
        // before it publishes it by the commit word, which `word` reads with Acquire. It cuts the file only behind what
        // `Packets::written` found, which is what readers keep to. Another program of the same user that changes or
        // cuts the file meanwhile can make this program read other bytes, each of which is checked, or end it by a signal.
        let map = unsafe { memmap2::Mmap::map(file) }?;
        #[cfg(unix)]
        // Only a hint: what it asks for is had without it too, a little later.
        let _ = map.advise(memmap2::Advice::Sequential);
        Ok(Self(Some(map)))
    }

    /// Opens and maps the file at `path`.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::new(&File::open(path)?)
    }

    /// All bytes of the file.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }

    /// The eight bytes at `offset`, as one number of this machine; `None` where they are not whole or not aligned. What
    /// the writer stored before it is visible afterwards.
    #[inline]
    pub(crate) fn word(&self, offset: u64) -> Option<u64> {
        let bytes: &[u8; 8] = self.bytes().get(usize::try_from(offset).ok()?..)?.first_chunk()?;
        let word = bytes.as_ptr().cast::<AtomicU64>();
        if !word.is_aligned() {
            return None;
        }
        // SAFETY: The eight bytes lie within the mapping and are aligned, both checked above. An atomic load writes nothing.
        Some(unsafe { &*word }.load(Ordering::Acquire))
    }

    /// Lets go of the memory of the bytes from `from` to `upto`; read again, they come from the file again.
    pub(crate) fn release(&self, from: u64, upto: u64) {
        #[cfg(unix)]
        if let Some(map) = &self.0
            && upto <= map.len() as u64
            && from < upto
        {
            // SAFETY: The mapping is shared and of a file and nobody writes through it: a page that is dropped comes back with
            // the file's bytes, so that slices into it stay what they were.
            let _ = unsafe {
                map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, from as usize, (upto - from) as usize)
            };
        }
    }
}
