//! Checksums of packets: how readers tell a damaged packet from a whole one.
//!
//! The checksum word of a packet's header has one of three forms:
//!
//! - *open*: a constant and the packet's sequence. No checksum was made: the packet is being written, or was when the
//!   program was killed.
//! - *sum*: the CRC-32 of the packet in the low half, its complement in the high half.
//! - *last*: a sum whose high half differs by a constant. The packet is the last one of a file that was ended in order.
//!
//! Damage to the word itself leaves none of these forms: a checksum that was zeroed is not taken for one that was never
//! made. The CRC covers the header and the content. It leaves out the word itself and the count of discarded events, which
//! a writer may still raise when it has left the packet.
//!
//! No thread that fires computes a checksum. The maintenance thread does it, for packets that their writer has left.

use crc32fast::Hasher;

use super::packet::{HEADER, SUB_BUFFER, offset};
use super::place::Place;
use super::ring::Ring;
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::sync::atomic::fence;

/// The high half of an open word.
const OPEN: u64 = 0x6f70_656e;
/// What the high half of a last word differs in.
const LAST: u64 = 0x6c61_7374;

/// The word of a packet that has no checksum yet.
pub(crate) const fn open(sequence: u64) -> u64 {
    OPEN << 32 | sequence & 0xffff_ffff
}

/// The word of a packet with this header and content. Its word in the header does not matter.
pub(crate) fn sum(header: &[u8; HEADER], content: &[u8]) -> u64 {
    let mut hasher = Hasher::new();
    hasher.update(&header[..offset::DISCARDED]);
    hasher.update(&header[offset::SEQUENCE..offset::CHECKSUM]);
    hasher.update(content);
    let sum = hasher.finalize();
    u64::from(!sum) << 32 | u64::from(sum)
}

/// Makes of a sum the word of a file's last packet.
pub(crate) const fn last(sum: u64) -> u64 {
    let sum = sum as u32;
    (!sum as u64 ^ LAST) << 32 | sum as u64
}

/// How far the packets of a ring have their checksums.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The first packet that has none.
    next: u64,
    copy: Vec<u8>,
}

impl Progress {
    /// Makes the checksums of the packets that the ring's writer has left. Does nothing if the writer is in the middle of
    /// a firing, which may belong to a packet before the current one.
    ///
    /// Makes at most `budget` of them, and takes those off it: the caller holds a lock that others wait for.
    pub fn advance(&mut self, ring: &Ring<Place>, budget: &mut u64) {
        let Some(position) = ring.settled() else { return };
        let done = position / SUB_BUFFER as u64;
        let first = self.next.max(done.saturating_sub(ring.space().packets()));
        let done = done.min(first + *budget);
        *budget -= done.saturating_sub(first);
        for packet in first..done {
            store(ring.space().packet(packet), packet + 1, &mut self.copy);
        }
        self.next = done.max(self.next);
    }
}

/// Stores the checksum of the packet with this sequence, which is committed to its end. Does nothing if the packet has one,
/// or if its writer, who goes round in a circle, takes it again meanwhile.
fn store(packet: &[AtomicU64], sequence: u64, copy: &mut Vec<u8>) {
    // Acquire: with the Release of the writer that enters. A thread that sees the sequence sees the rest of the header.
    let is_there = packet[offset::SEQUENCE / 8].load(Acquire) == sequence;
    let content = packet[offset::CONTENT_SIZE / 8].load(Relaxed) as usize / 8;
    if !is_there || !(HEADER..=8 * packet.len()).contains(&content) {
        return;
    }
    copy.clear();
    for word in &packet[..content.div_ceil(8)] {
        copy.extend_from_slice(&word.load(Relaxed).to_ne_bytes());
    }
    copy.truncate(content);
    let Some((header, content)) = copy.split_first_chunk() else { return };
    let sum = sum(header, content);
    // Partner: the writer's fence behind its store of an open word of another sequence. If the copy has anything that was
    // written after that, the exchange sees the other word and fails.
    fence(Acquire);
    // Release: with the Acquire of readers of the file. A reader that sees the checksum sees the final content size.
    let _ = packet[offset::CHECKSUM / 8].compare_exchange(open(sequence), sum, Release, Relaxed);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_are_told_apart() {
        let mut header = [1; HEADER];
        let word = sum(&header, b"content");
        assert!([word, last(word)].iter().all(|word| word >> 32 != OPEN) && open(u64::MAX) >> 32 == OPEN);
        assert_eq!((last(last(word)), last(word) as u32), (last(word), word as u32));
        assert_ne!(last(word), word);
        header[offset::CHECKSUM] = 2;
        header[offset::DISCARDED] = 2;
        assert_eq!(sum(&header, b"content"), word);
        header[offset::TID] = 2;
        assert_ne!(sum(&header, b"content"), word);
    }
}
