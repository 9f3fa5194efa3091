//! Files mapped into memory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::packet::{self, CHECKSUM, CONTENT_SIZE, Format, HEADER, PAGE, Packet, SEQUENCE, SUB_BUFFER};

/// Bytes read at once in the search for prepared packets.
const BLOCK: u64 = 64 << 10;

/// A file mapped for reading, without the prepared packets at its end.
///
/// The descriptor is closed, so a trace of many threads does not exhaust descriptors.
#[derive(Debug)]
pub(crate) struct MappedFile {
    map: Option<memmap2::Mmap>,
    format: Format,
    /// The length of the whole file.
    length: u64,
    /// Where the bytes begin in the memory.
    start: usize,
    /// Of a copy of a circular file: where its packets, each of [`SUB_BUFFER`] bytes, are in the file. Empty if the memory is the file.
    origins: Vec<u64>,
}

impl MappedFile {
    /// Maps the file with its current length.
    pub(crate) fn of(mut file: File, format: Format) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let written = written(&mut file, length, format)?;
        Self::map(&file, format, written, length)
    }

    /// Maps a circular file, all of it: its packets are in no order. Its recorder never cuts it.
    pub(crate) fn circular(file: &File, format: Format) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Self::map(file, format, length, length)
    }

    /// Makes a file of copies of the packets at `origins` of a circular file, which are in `copy` from `start` on.
    pub(crate) fn copy(copy: memmap2::MmapMut, start: usize, origins: Vec<u64>, format: Format) -> io::Result<Self> {
        let length = origins.len() as u64 * SUB_BUFFER;
        let map = Some(copy.make_read_only()?).filter(|_| length > 0);
        Ok(Self { map, format, length, start, origins })
    }

    fn map(file: &File, format: Format, written: u64, length: u64) -> io::Result<Self> {
        if written == 0 {
            return Ok(Self { map: None, format, length, start: 0, origins: Vec::new() });
        }
        let too_long = |_| io::Error::from(io::ErrorKind::FileTooLarge);
        let mut options = memmap2::MmapOptions::new();
        options.len(usize::try_from(written).map_err(too_long)?);
        // SAFETY: The mapping is only read. A recorder that still writes the file changes the bytes read here only before it
        // publishes them by the commit word, which `packet` reads with Acquire. When it ends it cuts off only prepared packets,
        // which `written` leaves out of the mapping. Another program of the same user that changes or cuts the file meanwhile
        // can make this one read other bytes, each of which is checked, or end it by a signal.
        // Packets of a circular file are copied by atomic loads, and each copy is checked (`circular`).
        let map = unsafe { options.map(file) }?;
        #[cfg(unix)]
        // A hint: if it fails, reading is only slower.
        let _ = map.advise(memmap2::Advice::Sequential);
        Ok(Self { map: Some(map), format, length, start: 0, origins: Vec::new() })
    }

    /// Returns the bytes of the file without the prepared packets at its end. Bytes written later may be missing.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.map.as_deref().and_then(|bytes| bytes.get(self.start..)).unwrap_or_default()
    }

    /// Returns the length of [`bytes`](Self::bytes).
    pub(crate) fn written(&self) -> u64 {
        self.bytes().len() as u64
    }

    /// Returns the offset in the file of an offset in these bytes.
    pub(crate) fn origin(&self, offset: u64) -> u64 {
        match self.origins.get((offset / SUB_BUFFER) as usize) {
            Some(origin) => origin + offset % SUB_BUFFER,
            // Behind the last packet.
            None => self.origins.last().map_or(offset, |origin| origin + SUB_BUFFER),
        }
    }

    /// Returns the length of the whole file when it was opened.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Returns the packet at `offset`. Its events up to its `content_end` are committed.
    ///
    /// # Errors
    ///
    /// Those of [`Format::packet`].
    pub(crate) fn packet(&self, offset: u64) -> Result<Packet, String> {
        let length = self.format.header();
        let words = self.words(offset, length)?;
        let mut head = [0; HEADER];
        // Acquire loads in this order: a writer that enters a packet stores the checksum word before the sequence, the
        // checksum is stored after the final content size, and the events before the content size that includes them.
        for at in [SEQUENCE, CHECKSUM, CONTENT_SIZE] {
            if let Some(word) = words.get(at / 8) {
                head[at..at + 8].copy_from_slice(&word.load(Ordering::Acquire).to_ne_bytes());
            }
        }
        for (at, word) in words.iter().enumerate().map(|(number, word)| (8 * number, word)) {
            if ![SEQUENCE, CHECKSUM, CONTENT_SIZE].contains(&at) {
                head[at..at + 8].copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes());
            }
        }
        self.format.packet(offset, &head[..length])
    }

    /// Returns the words of the `length` bytes at `offset`, which another process may change.
    ///
    /// # Errors
    ///
    /// The file ends before, or the bytes are not aligned.
    pub(crate) fn words(&self, offset: u64, length: usize) -> Result<&[AtomicU64], String> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let bytes = self.bytes().get(start..).and_then(|bytes| bytes.get(..length));
        let bytes = bytes.ok_or_else(|| "the file ends within the head of a packet".to_owned())?;
        let words = bytes.as_ptr().cast::<AtomicU64>();
        if !words.is_aligned() {
            return Err("a packet does not begin at a multiple of 8 bytes".to_owned());
        }
        // SAFETY: The words are the bytes of `bytes`, aligned as was just checked, and are only loaded.
        Ok(unsafe { slice::from_raw_parts(words, length / 8) })
    }

    /// Returns the format of the packets.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Computes the checksum of a packet; `None` if the file ends before its content.
    pub(crate) fn crc(&self, packet: &Packet) -> Option<u32> {
        self.bytes().get(packet.offset as usize..packet.content_end as usize).map(packet::crc)
    }

    /// Releases the memory of the bytes from `from` to `upto`, unless it is a copy. A later read loads them from the file again.
    pub(crate) fn release(&self, from: u64, upto: u64) {
        #[cfg(unix)]
        if let Some(map) = &self.map
            && self.origins.is_empty()
            && upto <= self.written()
            && from < upto
        {
            // SAFETY: The mapping is shared, of a file, and never written through: a dropped page is loaded again with the
            // file's bytes, so slices into it keep their content.
            let _ = unsafe {
                map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, from as usize, (upto - from) as usize)
            };
        }
    }
}

/// Returns the end of the file without prepared packets. Reads the file instead of mapping it, as the recorder may cut prepared packets off
/// meanwhile.
fn written(file: &mut File, length: u64, format: Format) -> io::Result<u64> {
    let mut end = length;
    let mut block = vec![0; BLOCK as usize];
    while end > 0 && end.is_multiple_of(PAGE) {
        let size = end.min(BLOCK);
        let block = &mut block[..size as usize];
        file.seek(SeekFrom::Start(end - size))?;
        match file.read_exact(block) {
            Ok(()) => {}
            // The recorder has cut the file in this block, perhaps behind recorded packets.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                end = file.metadata()?.len().min(end - 1);
                continue;
            }
            Err(error) => return Err(error),
        }
        for page in block.rchunks_exact(PAGE as usize) {
            if !format.is_prepared(page) {
                return Ok(end);
            }
            end -= PAGE;
        }
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use dyntrace_metadata::ByteOrder;

    use super::*;

    #[test]
    fn packets_before_the_new_end_of_a_file_that_is_cut_are_written() {
        let format = Format { byte_order: ByteOrder::Little, uuid: [0; 16], checksums: true, compact: true };
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[1; 3 << 15]).unwrap();
        // The length before the recorder has cut it: within a block.
        assert_eq!(written(&mut file, 4 << 15, format).unwrap(), 3 << 15);
        assert_eq!(written(&mut file, 40 << 15, format).unwrap(), 3 << 15);
    }
}
