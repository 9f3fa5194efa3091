//! Packets: where they begin and end, and what stands at their head.
//!
//! A file is a row of packets. One that nobody has entered yet is *prepared*: a page, valid, empty, with sequence 0.
//! When the writer enters a packet it makes the first of several prepared pages larger, so that it swallows the others.
//! The size of the content is the commit word: it grows with each event that is whole.

use crate::byte_order::ByteOrder;

pub(crate) const MAGIC: u32 = 0xC1FC_1FC1;
/// The length of a packet's header and context.
pub(crate) const HEADER: usize = 64;
/// The length of a prepared packet.
pub(crate) const PAGE: u64 = 4096;

const STREAM_ID: usize = 20;
/// The commit word.
pub(crate) const CONTENT_SIZE: usize = 24;
pub(crate) const PACKET_SIZE: usize = 32;
const DISCARDED: usize = 40;
const SEQUENCE: usize = 48;
const TID: usize = 56;

/// The head of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// Where in the file it begins.
    pub(crate) offset: u64,
    /// Where in the file it ends.
    pub(crate) end: u64,
    /// Where in the file its events end, as of when this was read.
    pub(crate) content_end: u64,
    pub(crate) stream_id: u32,
    /// Events that its ring dropped, from the ring's beginning.
    pub(crate) discarded: u64,
    /// Its number in its ring, from 1; 0 if it is only prepared.
    pub(crate) sequence: u64,
    pub(crate) tid: u64,
}

/// How the packets of a process's files are to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    pub(crate) byte_order: ByteOrder,
    pub(crate) uuid: [u8; 16],
}

impl Format {
    /// The packet at `offset` that begins with `head`.
    ///
    /// # Errors
    ///
    /// What is wrong with it. One that goes on behind the end of the file is none: its end says so.
    pub(crate) fn packet(&self, offset: u64, head: &[u8; HEADER]) -> Result<Packet, String> {
        if self.u32(head, 0) != MAGIC {
            return Err("no packet begins here: the magic number is missing".to_owned());
        }
        if head[4..20] != self.uuid {
            return Err("this packet is of another trace: its uuid is not the metadata's".to_owned());
        }
        let (content, size) = (self.u64(head, CONTENT_SIZE), self.u64(head, PACKET_SIZE));
        let whole =
            content.is_multiple_of(8) && size.is_multiple_of(64) && HEADER as u64 * 8 <= content && content <= size;
        let end = offset.checked_add(size / 8).filter(|_| whole);
        let end = end.ok_or_else(|| format!("a packet of {size} bits cannot hold {content} bits"))?;
        Ok(Packet {
            offset,
            end,
            content_end: offset + content / 8,
            stream_id: self.u32(head, STREAM_ID),
            discarded: self.u64(head, DISCARDED),
            sequence: self.u64(head, SEQUENCE),
            tid: self.u64(head, TID),
        })
    }

    /// Whether `head` begins a packet that nobody has entered.
    pub(crate) fn is_prepared(&self, head: &[u8; HEADER]) -> bool {
        self.packet(0, head).is_ok_and(|packet| packet.is_prepared() && packet.end == PAGE)
    }

    fn u32(&self, head: &[u8; HEADER], at: usize) -> u32 {
        self.byte_order.u32(std::array::from_fn(|byte| head[at + byte]))
    }

    fn u64(&self, head: &[u8; HEADER], at: usize) -> u64 {
        self.byte_order.u64(std::array::from_fn(|byte| head[at + byte]))
    }
}

impl Packet {
    /// Whether nobody has entered it.
    pub(crate) fn is_prepared(&self) -> bool {
        self.sequence == 0
    }
}
