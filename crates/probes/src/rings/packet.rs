//! Packets of a circular file, copied while its writer goes on.

use dyntrace_metadata::checksum;
use dyntrace_metadata::packet::{HEADER, PAGE, SUB_BUFFER, offset};

use super::header::Header;
use super::stream_file::StreamFile;
use crate::primitives::atomic::{AtomicU64, Ordering, fence};

/// A sub-buffer of a circular file, as words.
pub struct Packet<'c>(pub &'c [AtomicU64]);

pub fn packets(circular: &StreamFile) -> impl Iterator<Item = Packet<'_>> {
    let words = circular.prepared() as usize / 8;
    // SAFETY: the pages below the prepared length are mapped, begin at a page and live as long as the file. Its writer changes them
    // meanwhile: words are loaded as atomics, and inconsistent copies are dropped.
    let words = unsafe { std::slice::from_raw_parts(circular.base().cast::<AtomicU64>(), words) };
    words.chunks_exact(SUB_BUFFER / 8).map(Packet)
}

impl Packet<'_> {
    /// The packet's sequence; 0 while there is nothing to copy.
    #[inline]
    pub fn sequence(&self) -> u64 {
        // Acquire: with the Release of the writer that enters: a reader that sees the sequence sees its header.
        self.0[offset::SEQUENCE / 8].load(Ordering::Acquire)
    }

    /// Makes `copy` a packet of another trace, without unused space. Returns `false` if the packet was overwritten.
    pub fn copy(&self, sequence: u64, uuid: [u8; 16], copy: &mut Vec<u8>) -> bool {
        copy.clear();
        if self.sequence() != sequence {
            return false;
        }
        // Acquire, pairs with the committing writer's Release: the bytes that the size covers are complete.
        let content_size = self.0[offset::CONTENT_SIZE / 8].load(Ordering::Acquire) as usize / 8;
        let content_size = content_size.clamp(HEADER, SUB_BUFFER);
        for word in &self.0[..content_size.div_ceil(8)] {
            copy.extend(word.load(Ordering::Relaxed).to_ne_bytes());
        }
        // Partner: the writer's fence after its store of sequence 0. If the copy contains anything written later, the sequence below
        // differs.
        fence(Ordering::Acquire);
        if self.0[offset::SEQUENCE / 8].load(Ordering::Relaxed) != sequence {
            return false;
        }
        let Some(header) = copy.first_chunk().and_then(Header::decode) else {
            return false;
        };
        let packet_size = content_size.next_multiple_of(PAGE);
        let header = Header { uuid, content_size: content_size as u64, packet_size: packet_size as u64, ..header };
        copy[..HEADER].copy_from_slice(&header.encode());
        copy.truncate(content_size);
        set_checksum(copy);
        copy.resize(packet_size, 0);
        true
    }
}

/// Computes the checksum of a packet. Returns the checksum word.
pub fn set_checksum(packet: &mut [u8]) -> &mut [u8; 8] {
    let (header, content) = packet.split_first_chunk_mut::<HEADER>().expect("a packet has a header");
    let sum = checksum::sum(header, content);
    let word = header[offset::CHECKSUM..].first_chunk_mut().expect("the header has the word");
    *word = sum.to_ne_bytes();
    word
}
