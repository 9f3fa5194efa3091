//! The headers of events: a class's id, and a time.
//!
//! A *compact* header is one word: an id of 7 bits, and the low 25 bits of the time. A reader adds the high bits of the event before, so
//! fewer than 2^25 cycles may lie between the two. A *whole* header has an id of 16 bits and the whole time. The first event of each
//! packet has one, so a packet can be read without the packet before.
//!
//! Both begin with the 7 bits: [`WHOLE`] in a whole header.

use super::byte_order::ByteOrder;

/// Bits of a compact header's id.
pub const ID_BITS: u8 = 7;
/// Bits of a compact header's time.
pub const TIME_BITS: u8 = 25;
/// The id in a compact header's place that begins a whole header. Classes from this id on have whole headers.
pub const WHOLE: u16 = (1 << ID_BITS) - 1;
/// Bytes of a compact header.
pub const COMPACT_SIZE: usize = 4;
/// Bytes of a whole header.
pub const WHOLE_SIZE: usize = 11;

/// The header of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventHeader {
    /// Id of the event's class.
    pub id: u16,
    /// In cycles.
    pub time: u64,
    is_compact: bool,
}

impl EventHeader {
    /// The header of an event at `time` that follows an event at `last` in the same packet, or one at an earlier time.
    #[inline(always)]
    pub fn following(id: u16, time: u64, last: u64) -> EventHeader {
        EventHeader { id, time, is_compact: (id < WHOLE) & (time.wrapping_sub(last) < 1 << TIME_BITS) }
    }

    /// The header of the first event of a packet.
    #[inline(always)]
    pub fn first(id: u16, time: u64) -> EventHeader {
        EventHeader { id, time, is_compact: false }
    }

    /// Whether it is compact.
    #[inline(always)]
    pub fn is_compact(self) -> bool {
        self.is_compact
    }

    /// Its size in bytes.
    #[inline(always)]
    pub fn size(self) -> usize {
        if self.is_compact { COMPACT_SIZE } else { WHOLE_SIZE }
    }

    /// The bytes of a compact header, in this machine's order; `None` if the header is whole.
    #[inline(always)]
    pub fn compact(self) -> Option<[u8; COMPACT_SIZE]> {
        let (id, time) = (u32::from(self.id), self.time as u32);
        let word = match ByteOrder::NATIVE {
            ByteOrder::Little => time << ID_BITS | id,
            ByteOrder::Big => id << TIME_BITS | time & ((1 << TIME_BITS) - 1),
        };
        self.is_compact.then_some(word.to_ne_bytes())
    }

    /// The bytes of a whole header, in this machine's order.
    #[inline(always)]
    pub fn whole(self) -> [u8; WHOLE_SIZE] {
        let mut bytes = [0xff; WHOLE_SIZE];
        bytes[1..3].copy_from_slice(&self.id.to_ne_bytes());
        bytes[3..].copy_from_slice(&self.time.to_ne_bytes());
        bytes
    }

    /// Reads a header in the order `order` from the beginning of `bytes`, after an event at `last`; `None` if `bytes` ends before it.
    #[inline]
    pub fn read(bytes: &[u8], order: ByteOrder, last: u64) -> Option<EventHeader> {
        let word = order.u32(*bytes.first_chunk()?);
        let (id, low) = match order {
            ByteOrder::Little => (word & u32::from(WHOLE), word >> ID_BITS),
            ByteOrder::Big => (word >> TIME_BITS, word & ((1 << TIME_BITS) - 1)),
        };
        if id as u16 != WHOLE {
            let later = u64::from(low).wrapping_sub(last) & ((1 << TIME_BITS) - 1);
            return Some(EventHeader { id: id as u16, time: last.wrapping_add(later), is_compact: true });
        }
        let &[_, id0, id1, ref time @ ..] = bytes.first_chunk::<WHOLE_SIZE>()?;
        Some(EventHeader::first(order.u16([id0, id1]), order.u64(*time)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_reads_as_it_was_written() {
        let most = (1 << TIME_BITS) - 1;
        for last in [0, 1, most, most + 1, 5 << TIME_BITS | most, u64::MAX >> 1] {
            for (id, later, size) in [
                (0, 0, COMPACT_SIZE),
                (WHOLE - 1, most, COMPACT_SIZE),
                (WHOLE, 1, WHOLE_SIZE),
                (u16::MAX, 1, WHOLE_SIZE),
                (3, most + 1, WHOLE_SIZE),
                (3, u64::MAX, WHOLE_SIZE),
            ] {
                let header = EventHeader::following(id, last.wrapping_add(later), last);
                let bytes = header.compact().map_or(header.whole().to_vec(), |bytes| bytes.to_vec());
                assert_eq!((header.size(), bytes.len()), (size, size), "{id} {later}");
                assert_eq!(EventHeader::read(&bytes, ByteOrder::NATIVE, last), Some(header));
                let other = EventHeader::read(&bytes[..size - 1], ByteOrder::NATIVE, last);
                assert_eq!(other, None, "a part of it is none");
            }
        }
    }

    #[test]
    fn the_first_field_is_in_the_low_bits_or_the_high_ones() {
        for (order, bytes) in [(ByteOrder::Little, [0x85, 2, 0, 0]), (ByteOrder::Big, [0x0a, 0, 0, 5])] {
            assert_eq!(EventHeader::read(&bytes, order, 0), Some(EventHeader::following(5, 5, 0)));
        }
    }
}
