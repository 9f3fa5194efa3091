//! Checksum words of packets, by which readers recognise damaged packets.
//!
//! The checksum word of a packet's header has one of three forms:
//!
//! - *open*: a constant and the packet's sequence. There is no checksum: the packet is being written, or was when the program was killed.
//! - *sum*: the CRC-32 of the packet in the low half, its complement in the high half.
//! - *last*: a sum whose high half differs by a constant. The packet is the last one of a file that was closed regularly.
//!
//! A damaged word has none of these forms: a zeroed checksum does not look like a missing one. The CRC covers the header and the content,
//! without the word itself and the count of discarded events, which a writer may still raise after it has left the packet.
//!
//! Firing threads compute no checksums. The maintenance thread does, for packets that their writer has left.

use crc32fast::Hasher;

use super::packet::{HEADER, offset};

/// The high half of an open word.
const OPEN: u64 = 0x6f70_656e;
/// The difference in the high half of a last word.
const LAST: u64 = 0x6c61_7374;

/// The word of a packet that has no checksum yet.
pub const fn open(sequence: u64) -> u64 {
    OPEN << 32 | sequence & 0xffff_ffff
}

/// The CRC of a packet with this header and content. The word in the header is ignored.
pub fn crc(header: &[u8; HEADER], content: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(&header[..offset::DISCARDED]);
    hasher.update(&header[offset::SEQUENCE..offset::CHECKSUM]);
    hasher.update(content);
    hasher.finalize()
}

/// The word of a packet with this CRC.
pub const fn word(crc: u32) -> u64 {
    (!crc as u64) << 32 | crc as u64
}

/// The word of a packet with this header and content.
pub fn sum(header: &[u8; HEADER], content: &[u8]) -> u64 {
    word(crc(header, content))
}

/// Turns a sum into the word of a file's last packet.
pub const fn last(sum: u64) -> u64 {
    let sum = sum as u32;
    (!sum as u64 ^ LAST) << 32 | sum as u64
}

#[cfg(test)]
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
