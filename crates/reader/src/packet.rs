//! Packets: their bounds and headers.
//!
//! A file is a sequence of packets. A packet that no writer has entered yet is *prepared*: a valid, empty page with sequence
//! 0. To enter a packet, the writer enlarges the first of several prepared pages over the others. The content size is the
//! commit word: it grows with each committed event.

use dyntrace_metadata::event_header::EventHeader;
use dyntrace_metadata::packet::offset::{DISCARDED, RING, STREAM_ID, TID};
use dyntrace_metadata::packet::{self, MAGIC};
use dyntrace_metadata::{ByteOrder, checksum};

/// The length of the longest header: the one with a checksum.
pub(crate) use dyntrace_metadata::packet::HEADER;
pub(crate) use dyntrace_metadata::packet::offset::{CHECKSUM, CONTENT_SIZE, PACKET_SIZE, SEQUENCE};

/// The length of a header of the recorder's first version, without ring number and checksum.
const SHORT_HEADER: usize = 64;
/// The length of an event's id and time, if they are not compact.
const EVENT_HEADER: usize = 10;
/// The length of a prepared packet.
pub(crate) const PAGE: u64 = packet::PAGE as u64;
/// The length of a packet that the recorder enters.
pub(crate) const SUB_BUFFER: u64 = packet::SUB_BUFFER as u64;

/// The head of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// Its beginning in the file.
    pub(crate) offset: u64,
    /// Its end in the file.
    pub(crate) end: u64,
    /// The end of its events in the file when the header was read.
    pub(crate) content_end: u64,
    pub(crate) stream_id: u32,
    /// Number of events that its ring has dropped from the ring's beginning.
    pub(crate) discarded: u64,
    /// Its number in its ring, from 1; 0 if it is prepared.
    pub(crate) sequence: u64,
    pub(crate) tid: u64,
    /// The number of its ring; 0 without a ring number.
    pub(crate) ring: u64,
    pub(crate) checksum: Checksum,
}

/// The checksum word of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checksum {
    /// Packets of this trace have no checksum.
    Absent,
    /// The packet was being written. The value is the low half of its sequence.
    Open(u32),
    /// The checksum of the packet.
    Sum {
        crc: u32,
        /// Whether the recorder ended the file with this packet.
        is_last: bool,
    },
    /// A word that no recorder writes.
    Damaged,
}

impl Checksum {
    fn of(word: u64) -> Self {
        let low = word as u32;
        let sum = checksum::word(low);
        match word {
            _ if word == checksum::open(word) => Checksum::Open(low),
            _ if word == sum => Checksum::Sum { crc: low, is_last: false },
            _ if word == checksum::last(sum) => Checksum::Sum { crc: low, is_last: true },
            _ => Checksum::Damaged,
        }
    }

    /// Whether the recorder ended the file with this packet.
    pub(crate) fn is_last(self) -> bool {
        matches!(self, Checksum::Sum { is_last: true, .. })
    }
}

/// The format of the packets of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    pub(crate) byte_order: ByteOrder,
    pub(crate) uuid: [u8; 16],
    /// Whether packets have a ring number and a checksum.
    pub(crate) checksums: bool,
    /// Whether events have the headers of [`event_header`](dyntrace_metadata::event_header).
    pub(crate) compact: bool,
}

impl Format {
    /// Returns the length of a packet's header and context.
    pub(crate) fn header(&self) -> usize {
        if self.checksums { HEADER } else { SHORT_HEADER }
    }

    /// Reads the header of an event from the beginning of `bytes`, after an event at `last`: its length, the id of its class, and its time.
    /// `None` if `bytes` ends before it.
    #[inline]
    pub(crate) fn event_header(&self, bytes: &[u8], last: u64) -> Option<(usize, u16, u64)> {
        if self.compact {
            let header = EventHeader::read(bytes, self.byte_order, last)?;
            return Some((header.size(), header.id, header.time));
        }
        let &[id0, id1, ref time @ ..] = bytes.first_chunk::<EVENT_HEADER>()?;
        Some((EVENT_HEADER, self.byte_order.u16([id0, id1]), self.byte_order.u64(*time)))
    }

    /// Returns the packet at `offset` that begins with `head`, which is as long as a header.
    ///
    /// # Errors
    ///
    /// The problem with the header. The packet may extend past the end of the file: the caller checks its end.
    pub(crate) fn packet(&self, offset: u64, head: &[u8]) -> Result<Packet, String> {
        if self.u32(head, 0) != MAGIC {
            return Err("no packet begins here: the magic number is missing".to_owned());
        }
        if head[4..20] != self.uuid {
            return Err("this packet belongs to another trace: its uuid differs from the metadata's".to_owned());
        }
        let (content, size) = (self.u64(head, CONTENT_SIZE), self.u64(head, PACKET_SIZE));
        let unit = if self.checksums { PAGE * 8 } else { 64 };
        let whole = content.is_multiple_of(8)
            && size.is_multiple_of(unit)
            && self.header() as u64 * 8 <= content
            && content <= size;
        let too_large = self.checksums && size > SUB_BUFFER * 8;
        let end = offset.checked_add(size / 8).filter(|_| whole && !too_large);
        let end = end.ok_or_else(|| format!("a packet of {size} bits cannot hold {content} bits"))?;
        let (ring, checksum) = match self.checksums {
            true => (self.u64(head, RING), Checksum::of(self.u64(head, CHECKSUM))),
            false => (0, Checksum::Absent),
        };
        Ok(Packet {
            offset,
            end,
            content_end: offset + content / 8,
            stream_id: self.u32(head, STREAM_ID),
            discarded: self.u64(head, DISCARDED),
            sequence: self.u64(head, SEQUENCE),
            tid: self.u64(head, TID),
            ring,
            checksum,
        })
    }

    /// Whether a writer has entered the packet that `bytes` begins with, and it has no damage.
    pub(crate) fn is_whole(&self, bytes: &[u8]) -> bool {
        self.packet(0, bytes).is_ok_and(|packet| match packet.checksum {
            _ if packet.is_prepared() => false,
            Checksum::Absent => true,
            Checksum::Open(_) => packet.is_wrong_for_open(true).is_none(),
            Checksum::Sum { crc: sum, .. } => {
                bytes.get(..packet.content_end as usize).is_some_and(|bytes| crc(bytes) == sum)
            }
            Checksum::Damaged => false,
        })
    }

    /// Whether `head` begins a prepared packet.
    pub(crate) fn is_prepared(&self, head: &[u8]) -> bool {
        head.len() >= self.header()
            && self.packet(0, head).is_ok_and(|packet| {
                let open = matches!(packet.checksum, Checksum::Absent | Checksum::Open(_));
                packet.is_prepared() && packet.end == PAGE && open
            })
    }

    /// Writes the checksum of a packet into its header.
    pub(crate) fn set_checksum(&self, packet: &mut [u8], is_last: bool) {
        let sum = checksum::word(crc(packet));
        let word = self.byte_order.u64((if is_last { checksum::last(sum) } else { sum }).to_ne_bytes());
        packet[CHECKSUM..][..8].copy_from_slice(&word.to_ne_bytes());
    }

    fn u32(&self, head: &[u8], at: usize) -> u32 {
        self.byte_order.u32(std::array::from_fn(|byte| head[at + byte]))
    }

    fn u64(&self, head: &[u8], at: usize) -> u64 {
        self.byte_order.u64(std::array::from_fn(|byte| head[at + byte]))
    }
}

/// Computes the checksum of a packet: header and content without the checksum word and the count of discarded events.
pub(crate) fn crc(packet: &[u8]) -> u32 {
    let (header, content) = packet.split_first_chunk().expect("packets with checksums have whole headers");
    checksum::crc(header, content)
}

impl Packet {
    /// Whether no writer has entered it.
    pub(crate) fn is_prepared(&self) -> bool {
        self.sequence == 0
    }

    /// Whether its offset is that of its sequence number, as in files that are not circular.
    pub(crate) fn is_in_place(&self) -> bool {
        self.sequence.checked_sub(1).and_then(|before| before.checked_mul(SUB_BUFFER)) == Some(self.offset)
    }

    /// Returns the problem with a packet without a checksum yet. In files that are not circular, its sequence number must match its offset.
    pub(crate) fn is_wrong_for_open(&self, is_circular: bool) -> Option<&'static str> {
        let Checksum::Open(low) = self.checksum else { return None };
        if self.sequence as u32 != low {
            return Some("its sequence number and its checksum word disagree");
        }
        if !is_circular && !self.is_in_place() {
            return Some("its sequence number does not match its offset, and it has no checksum");
        }
        None
    }
}
