//! Files in memory: the leaf that maps them.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::packet::{self, CHECKSUM, CONTENT_SIZE, Format, HEADER, PAGE, Packet, SEQUENCE};

/// How much is looked through at once for prepared packets.
const BLOCK: u64 = 64 << 10;

/// A file mapped for reading, without the prepared packets at its end. Only the mapping stays open, so that traces of
/// many threads need no descriptors.
#[derive(Debug)]
pub(crate) struct Map {
    map: Option<memmap2::Mmap>,
    format: Format,
    /// The length of the whole file.
    length: u64,
}

impl Map {
    /// Maps the file as long as it is now.
    pub(crate) fn of(mut file: File, format: Format) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let written = written(&mut file, length, format)?;
        if written == 0 {
            return Ok(Self { map: None, format, length });
        }
        let too_long = |_| io::Error::from(io::ErrorKind::FileTooLarge);
        let mut options = memmap2::MmapOptions::new();
        options.len(usize::try_from(written).map_err(too_long)?);
        // SAFETY: The mapping is only read. A recorder that still writes the file changes a byte that is read here only
        // before it publishes it by the commit word, which `packet` reads with Acquire. When it ends it cuts off prepared
        // packets only, and what `written` found begins before those. Another program of the same user that changes or cuts
        // the file meanwhile can make this one read other bytes, each of which is checked, or end it by a signal.
        let map = unsafe { options.map(&file) }?;
        #[cfg(unix)]
        // Only a hint: without it the same is read a little later.
        let _ = map.advise(memmap2::Advice::Sequential);
        Ok(Self { map: Some(map), format, length })
    }

    /// The bytes of the file but for prepared packets at its end. What is written later may be missing.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// How long that is.
    pub(crate) fn written(&self) -> u64 {
        self.bytes().len() as u64
    }

    /// The length of the whole file when it was opened.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The packet at `offset`. Its events, up to the content's end that it tells, are there to be read.
    ///
    /// # Errors
    ///
    /// What is wrong with it, as [`Format::packet`] says.
    pub(crate) fn packet(&self, offset: u64) -> Result<Packet, String> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let length = self.format.header();
        let head = self
            .bytes()
            .get(start..)
            .and_then(|bytes| bytes.get(..length))
            .ok_or_else(|| "the file ends within the head of a packet".to_owned())?;
        let words = head.as_ptr().cast::<AtomicU64>();
        if !words.is_aligned() {
            return Err("a packet does not begin at a multiple of 8 bytes".to_owned());
        }
        // SAFETY: The words are the bytes of `head`, aligned as was just checked, and are only loaded.
        let words = unsafe { slice::from_raw_parts(words, length / 8) };
        let mut head = [0; HEADER];
        // Acquire, in this order: a writer that enters stores the checksum word before the sequence; the checksum is stored
        // behind the final content size; what belongs to that size is stored before it.
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

    /// The checksum of a packet, made anew; `None` if not all of its content is there.
    pub(crate) fn crc(&self, packet: &Packet) -> Option<u32> {
        self.bytes().get(packet.offset as usize..packet.content_end as usize).map(packet::crc)
    }

    /// Lets go of the memory of the bytes from `from` to `upto`; read again, they come from the file again.
    pub(crate) fn release(&self, from: u64, upto: u64) {
        #[cfg(unix)]
        if let Some(map) = &self.map
            && upto <= self.written()
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

/// Where the file ends but for prepared packets. It is read here, not mapped: the recorder may cut them off meanwhile.
fn written(file: &mut File, length: u64, format: Format) -> io::Result<u64> {
    let mut end = length;
    let mut block = vec![0; BLOCK as usize];
    while end > 0 && end.is_multiple_of(PAGE) {
        let size = end.min(BLOCK);
        let block = &mut block[..size as usize];
        file.seek(SeekFrom::Start(end - size))?;
        match file.read_exact(block) {
            Ok(()) => {}
            // Cut off since.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                end -= size;
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
