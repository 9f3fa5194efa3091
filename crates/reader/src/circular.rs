//! Copies the packets of a circular file while its writer goes on.
//!
//! A writer that enters a packet again stores 0 in its sequence, then the new header, then the new sequence, then events. So a copy is
//! whole if the packet had the same sequence before and after it was copied.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use crate::map::MappedFile;
use crate::packet::{CHECKSUM, CONTENT_SIZE, SEQUENCE, SUB_BUFFER};

/// Copies the packets from the one with the sequence `from` on, in the order of their sequences, each to a multiple of [`SUB_BUFFER`].
///
/// Packets that the writer has overwritten are missing. Copies one lap at most, so that a fast writer cannot hold the caller.
pub(crate) fn unroll(ring: &MappedFile, from: u64) -> io::Result<MappedFile> {
    let packets = ring.written() / SUB_BUFFER;
    let order = ring.format().byte_order;
    let (mut copy, mut last) = (Vec::new(), None);
    let mut wanted = from.max(1);
    while (copy.len() as u64) < packets * SUB_BUFFER {
        let at = (wanted - 1) % packets * SUB_BUFFER;
        let Ok(words) = ring.words(at, SUB_BUFFER as usize) else { break };
        // Acquire: with the Release of the writer that enters. A reader that sees the sequence sees the rest of the header.
        let there = order.u64(words[SEQUENCE / 8].load(Ordering::Acquire).to_ne_bytes());
        if there == wanted {
            // The writer has left the packet before, perhaps with more events than were copied.
            if let Some(before) = last.take() {
                copy.truncate(copy.len() - SUB_BUFFER as usize);
                append(before, wanted - 1, ring, &mut copy);
            }
            // If it fails, the next look sees another sequence.
            if append(words, wanted, ring, &mut copy) {
                // No writer has entered as many packets.
                let Some(next) = wanted.checked_add(1) else { break };
                (last, wanted) = (Some(words), next);
            }
        } else if there > wanted {
            last = None;
            // The newest packet is at least this one, so those of a lap before it are gone.
            wanted = there.saturating_sub(packets - 1).max(wanted + 1);
        } else {
            break;
        }
    }
    MappedFile::copy(&copy, ring.format())
}

/// Appends a copy of the packet with that sequence. Returns false if the writer has entered it again.
fn append(packet: &[AtomicU64], sequence: u64, ring: &MappedFile, copy: &mut Vec<u8>) -> bool {
    let order = ring.format().byte_order;
    let is_still = |ordering| order.u64(packet[SEQUENCE / 8].load(ordering).to_ne_bytes()) == sequence;
    // Acquire: as in `unroll`.
    if !is_still(Ordering::Acquire) {
        return false;
    }
    // In this order: the writer stores the checksum after the final content size.
    let later = [CHECKSUM, CONTENT_SIZE].map(|at| (at, packet[at / 8].load(Ordering::Acquire).to_ne_bytes()));
    let header = ring.format().header();
    let content = (order.u64(later[1].1) / 8).clamp(header as u64, SUB_BUFFER) as usize;
    let start = copy.len();
    for word in &packet[..content.div_ceil(8)] {
        copy.extend_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes());
    }
    copy.truncate(start + content);
    // Headers of the recorder's first version have no checksum.
    for (at, word) in later.into_iter().filter(|(at, _)| at + 8 <= header) {
        copy[start + at..start + at + 8].copy_from_slice(&word);
    }
    // Partner: the writer's fence after it has stored 0 in the sequence. If the copy has anything that was written later, the sequence
    // differs now.
    fence(Ordering::Acquire);
    let is_whole = is_still(Ordering::Relaxed);
    copy.resize(if is_whole { start + SUB_BUFFER as usize } else { start }, 0);
    is_whole
}
