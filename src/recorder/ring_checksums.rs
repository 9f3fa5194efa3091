//! Computing the checksums of packets that a ring's writer has left.

use dyntrace_metadata::checksum::{open, sum};
use dyntrace_metadata::packet::{HEADER, SUB_BUFFER, offset};

use dyntrace_probes::primitives::atomic::AtomicU64;
use dyntrace_probes::primitives::atomic::Ordering::{Acquire, Relaxed, Release};
use dyntrace_probes::primitives::atomic::fence;
use dyntrace_probes::rings::ring::Ring;
use dyntrace_probes::rings::ring_file::RingFile;

/// How far the packets of a ring have checksums.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The first packet without one.
    next: u64,
    copy: Vec<u8>,
}

impl Progress {
    /// Computes the checksums of the packets that the ring's writer has left. Does nothing during a firing, which may belong to a packet
    /// before the current one.
    ///
    /// Computes at most `budget` checksums, and subtracts them from it: the caller holds a lock that other threads wait for.
    pub fn advance(&mut self, ring: &Ring<RingFile>, budget: &mut u64) {
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

/// Stores the checksum of the packet with this sequence, which is committed to its end. Does nothing if the packet has one, or if the
/// writer of a circular file overwrites it meanwhile.
fn store(packet: &[AtomicU64], sequence: u64, copy: &mut Vec<u8>) {
    // Acquire: with the Release of the writer that enters. A thread that sees the sequence sees the rest of the header.
    let is_there = packet[offset::SEQUENCE / 8].load(Acquire) == sequence;
    let content = packet[offset::CONTENT_SIZE / 8].load(Relaxed) as usize / 8;
    if !is_there || !(HEADER..=8 * packet.len()).contains(&content) {
        return;
    }
    copy.resize(8 * packet.len(), 0);
    let (words, _) = copy.as_chunks_mut();
    for (to, word) in words.iter_mut().zip(&packet[..content.div_ceil(8)]) {
        *to = word.load(Relaxed).to_ne_bytes();
    }
    let Some((header, content)) = copy[..content].split_first_chunk() else { return };
    let sum = sum(header, content);
    // Partner: the writer's fence after its store of an open word of another sequence. If the copy contains anything written after that,
    // the exchange sees the other word and fails.
    fence(Acquire);
    // Release: with the Acquire of readers of the file: a reader that sees the checksum sees the final content size.
    let _ = packet[offset::CHECKSUM / 8].compare_exchange(open(sequence), sum, Release, Relaxed);
}
