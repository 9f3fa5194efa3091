//! Headers of packets.

use dyntrace_metadata::checksum;
use dyntrace_metadata::packet::{HEADER, MAGIC, PAGE, offset};

/// The stream class of rings. The class of an event there is the id of its probe.
pub const RING_STREAM: u32 = 0;

/// The header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub uuid: [u8; 16],
    pub stream_id: u32,
    /// In bytes here, in bits in the file.
    pub content_size: u64,
    /// In bytes here, in bits in the file.
    pub packet_size: u64,
    pub discarded: u64,
    pub sequence: u64,
    pub tid: u64,
    pub ring: u64,
    pub checksum: u64,
}

impl Header {
    /// The header of a prepared page, which has no events.
    pub fn of_page(uuid: [u8; 16], stream_id: u32) -> Header {
        Header {
            uuid,
            stream_id,
            content_size: HEADER as u64,
            packet_size: PAGE as u64,
            discarded: 0,
            sequence: 0,
            tid: 0,
            ring: 0,
            checksum: checksum::open(0),
        }
    }

    /// Encodes the header as in a file.
    pub fn encode(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(offset::MAGIC, &MAGIC.to_ne_bytes());
        put(offset::UUID, &self.uuid);
        put(offset::STREAM_ID, &self.stream_id.to_ne_bytes());
        put(offset::CONTENT_SIZE, &(self.content_size * 8).to_ne_bytes());
        put(offset::PACKET_SIZE, &(self.packet_size * 8).to_ne_bytes());
        put(offset::DISCARDED, &self.discarded.to_ne_bytes());
        put(offset::SEQUENCE, &self.sequence.to_ne_bytes());
        put(offset::TID, &self.tid.to_ne_bytes());
        put(offset::RING, &self.ring.to_ne_bytes());
        put(offset::CHECKSUM, &self.checksum.to_ne_bytes());
        bytes
    }

    /// Decodes a header; `None` if no packet can begin with these bytes.
    pub fn decode(bytes: &[u8; HEADER]) -> Option<Self> {
        let header = Self {
            uuid: array(bytes, offset::UUID),
            stream_id: u32::from_ne_bytes(array(bytes, offset::STREAM_ID)),
            content_size: u64::from_ne_bytes(array(bytes, offset::CONTENT_SIZE)) / 8,
            packet_size: u64::from_ne_bytes(array(bytes, offset::PACKET_SIZE)) / 8,
            discarded: u64::from_ne_bytes(array(bytes, offset::DISCARDED)),
            sequence: u64::from_ne_bytes(array(bytes, offset::SEQUENCE)),
            tid: u64::from_ne_bytes(array(bytes, offset::TID)),
            ring: u64::from_ne_bytes(array(bytes, offset::RING)),
            checksum: u64::from_ne_bytes(array(bytes, offset::CHECKSUM)),
        };
        let sizes = header.content_size >= HEADER as u64
            && header.content_size <= header.packet_size
            && header.packet_size.is_multiple_of(PAGE as u64);
        (u32::from_ne_bytes(array(bytes, offset::MAGIC)) == MAGIC && sizes).then_some(header)
    }
}

fn array<const N: usize>(bytes: &[u8; HEADER], at: usize) -> [u8; N] {
    std::array::from_fn(|i| bytes[at + i])
}

/// A prepared page: an empty packet.
pub fn prepared_page(uuid: [u8; 16], stream_id: u32, discarded: u64) -> [u8; PAGE] {
    let header = Header { discarded, ..Header::of_page(uuid, stream_id) };
    let mut page = [0; PAGE];
    page[..HEADER].copy_from_slice(&header.encode());
    page
}

#[cfg(test)]
mod tests {
    use dyntrace_metadata::packet::SUB_BUFFER;

    use super::*;

    #[test]
    fn a_header_reads_as_it_was_written() {
        let header = Header {
            uuid: std::array::from_fn(|i| i as u8),
            stream_id: 1,
            content_size: 100,
            packet_size: SUB_BUFFER as u64,
            discarded: 3,
            sequence: 4,
            tid: 5,
            ring: 6,
            checksum: 7,
        };
        assert_eq!(Header::decode(&header.encode()), Some(header));
    }

    #[test]
    fn malformed_packet_headers_are_refused() {
        let page = prepared_page([7; 16], 0, 0);
        let header: [u8; HEADER] = std::array::from_fn(|i| page[i]);
        assert!(Header::decode(&header).is_some());
        for (at, value) in [
            (offset::MAGIC, 0),
            (offset::CONTENT_SIZE, 0),
            (offset::PACKET_SIZE, 0),
            (offset::CONTENT_SIZE, u64::MAX),
            (offset::PACKET_SIZE, 8 * (PAGE as u64 + 1)),
        ] {
            let mut damaged = header;
            damaged[at..at + 8].copy_from_slice(&value.to_ne_bytes());
            assert_eq!(Header::decode(&damaged), None, "{value} at {at}");
        }
    }
}
