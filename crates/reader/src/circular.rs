//! Copies the packets of a circular file in the order they were entered, also while its writer goes on.
//!
//! A writer that enters a packet again stores 0 in its sequence, then the new header, then the new sequence, then events. So a copy is
//! whole if the packet had the same sequence before and after it was copied.

use std::cmp::Reverse;
use std::io;
use std::sync::atomic::{Ordering, fence};

use crate::map::MappedFile;
use crate::packet::{CHECKSUM, CONTENT_SIZE, SEQUENCE, SUB_BUFFER};

const SIZE: usize = SUB_BUFFER as usize;

/// Copies the packets from the one with the sequence `from` on, oldest first.
///
/// Packets that the writer enters meanwhile are left out, and so are those before them: there is no gap between the others. The copy has
/// damaged packets at their places, where [`walk`](crate::walk) finds them between the packets of the threads that wrote around them.
pub(crate) fn unroll(ring: &MappedFile, from: u64) -> io::Result<MappedFile> {
    let places = ring.written() as usize / SIZE;
    let seen: Vec<u64> = (0..places).map(|place| sequence(ring, place, Ordering::Acquire)).collect();
    let mut copy = memmap2::MmapMut::map_anon((places * SIZE).max(1))?;
    let from = from.max(1);
    let mut candidates: Vec<usize> = (0..places).filter(|&place| seen[place] >= from).collect();
    candidates.sort_by_key(|&place| Reverse(seen[place]));
    // A damaged sequence may be higher than that of the newest packet.
    let newest = candidates.into_iter().find(|&place| {
        let packet = &mut copy[..SIZE];
        copy_packet(ring, place, packet) == Some(seen[place]) && ring.format().is_whole(packet)
    });
    let highest = newest.map_or(0, |newest| seen[newest]);
    let oldest = newest.map_or(0, |newest| newest + 1);
    let (mut start, mut origins) = (places * SIZE, Vec::new());
    // The newest first, as the writer enters the oldest. It has left all packets before the newest.
    for place in (0..places).rev().map(|back| (oldest + back) % places) {
        let packet = &mut copy[start - SIZE..start];
        let Some(sequence) = copy_packet(ring, place, packet) else { continue };
        let is_wanted = match sequence {
            // No writer has entered it, or one is about to. Without a whole header it is damaged.
            0 => ring.format().packet(0, packet).is_err(),
            _ => sequence >= from && (sequence <= highest || sequence == seen[place]),
        };
        if is_wanted {
            start -= SIZE;
            origins.push((place * SIZE) as u64);
        }
        // A follower has read the packets before.
        if sequence == from && from > 1 {
            break;
        }
    }
    origins.reverse();
    MappedFile::copy(copy, start, origins, ring.format())
}

/// Returns the sequence of the packet at a place.
fn sequence(ring: &MappedFile, place: usize, ordering: Ordering) -> u64 {
    let words = ring.words((place * SIZE) as u64, SIZE).unwrap_or_default();
    words.get(SEQUENCE / 8).map_or(0, |word| ring.format().byte_order.u64(word.load(ordering).to_ne_bytes()))
}

/// Copies the packet at a place. Returns its sequence; `None` if the writer has entered it meanwhile.
fn copy_packet(ring: &MappedFile, place: usize, to: &mut [u8]) -> Option<u64> {
    let (format, words) = (ring.format(), ring.words((place * SIZE) as u64, SIZE).ok()?);
    // Acquire: with the Release of the writer that enters. A reader that sees the sequence sees the rest of the header.
    let before = sequence(ring, place, Ordering::Acquire);
    // In this order: the writer stores the checksum after the final content size.
    let later = [CHECKSUM, CONTENT_SIZE].map(|at| (at, words[at / 8].load(Ordering::Acquire).to_ne_bytes()));
    let content = (format.byte_order.u64(later[1].1) / 8).clamp(format.header() as u64, SUB_BUFFER) as usize;
    let (content, unused) = to.split_at_mut(content.next_multiple_of(8));
    for (to, word) in content.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes());
    }
    unused.fill(0);
    // Headers of the recorder's first version have no checksum.
    for (at, word) in later.into_iter().filter(|(at, _)| at + 8 <= format.header()) {
        content[at..at + 8].copy_from_slice(&word);
    }
    // Partner: the writer's fence after it has stored 0 in the sequence. If the copy has anything that was written later, the sequence
    // differs now.
    fence(Ordering::Acquire);
    (sequence(ring, place, Ordering::Relaxed) == before).then_some(before)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use dyntrace_metadata::ByteOrder;
    use dyntrace_metadata::packet::MAGIC;

    use super::*;
    use crate::packet::{Format, HEADER, PACKET_SIZE};

    const FORMAT: Format = Format { byte_order: ByteOrder::Little, uuid: [7; 16], checksums: true, compact: true };

    fn packet(sequence: u64) -> Vec<u8> {
        let mut packet = vec![0; SIZE];
        packet[..4].copy_from_slice(&MAGIC.to_le_bytes());
        packet[4..20].fill(7);
        for (at, word) in [(CONTENT_SIZE, 8 * HEADER as u64), (PACKET_SIZE, 8 * SUB_BUFFER), (SEQUENCE, sequence)] {
            packet[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        FORMAT.set_checksum(&mut packet[..HEADER], false);
        packet
    }

    /// The places of the packets in the copy.
    fn places(ring: &[Vec<u8>], from: u64) -> Vec<u64> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&ring.concat()).unwrap();
        let copy = unroll(&MappedFile::circular(&file, FORMAT).unwrap(), from).unwrap();
        (0..copy.written() / SUB_BUFFER).map(|number| copy.origin(number * SUB_BUFFER) / SUB_BUFFER).collect()
    }

    #[test]
    fn a_damaged_sequence_is_not_taken_for_the_newest() {
        let mut ring = [5, 6, 3, 4].map(packet);
        assert_eq!(places(&ring, 1), [2, 3, 0, 1]);
        assert_eq!(places(&ring, 5), [0, 1]);
        // That of the oldest packet, then of another one: they keep their places.
        ring[2][SEQUENCE + 5] = 1;
        assert_eq!(places(&ring, 1), [2, 3, 0, 1]);
        ring[0][SEQUENCE..SEQUENCE + 8].fill(0xff);
        assert_eq!(places(&ring, 1), [2, 3, 0, 1]);
        // All of them.
        ring.iter_mut().for_each(|packet| packet[HEADER - 1] ^= 1);
        assert_eq!(places(&ring, 1), [0, 1, 2, 3]);
        assert!(places(&[], 1).is_empty());
    }
}
