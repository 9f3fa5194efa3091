//! Packets: where they begin and end, and what stands at their head.
//!
//! A file is a row of packets. One that nobody has entered yet is *prepared*: a page, valid, empty, with sequence 0.
//! When the writer enters a packet it makes the first of several prepared pages larger, so that it swallows the others.
//! The size of the content is the commit word: it grows with each event that is whole.

use crate::byte_order::ByteOrder;
use crate::map::Map;
use crate::process::Process;

pub(crate) const MAGIC: u32 = 0xC1FC_1FC1;
/// The length of a packet's header and context.
pub(crate) const HEADER: u64 = 64;
/// The length of a prepared packet.
pub(crate) const PAGE: u64 = 4096;

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

/// The packets of one file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packets<'t> {
    map: &'t Map,
    pub(crate) byte_order: ByteOrder,
    uuid: [u8; 16],
}

impl<'t> Packets<'t> {
    /// The packets of a file of `process`.
    pub(crate) fn new(map: &'t Map, process: &Process) -> Self {
        Self { map, byte_order: process.metadata.byte_order, uuid: process.metadata.uuid }
    }

    /// The packet at `offset`.
    ///
    /// # Errors
    ///
    /// What is wrong with it. One that goes on behind the end of the file is none: its end says so.
    pub(crate) fn at(&self, offset: u64) -> Result<Packet, String> {
        let bytes = self.map.bytes();
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let head: &[u8; HEADER as usize] = bytes
            .get(start..)
            .and_then(<[u8]>::first_chunk)
            .ok_or("the file ends within the head of a packet".to_owned())?;
        let word = |at: usize| {
            let word = self.map.word(offset + at as u64).ok_or("a packet does not begin at a multiple of 8 bytes")?;
            Ok::<_, String>(self.byte_order.u64(word.to_ne_bytes()))
        };
        // First of all: what belongs to this size was stored before it.
        let content = word(CONTENT_SIZE)?;
        if self.number(head, 0) != MAGIC {
            return Err("no packet begins here: the magic number is missing".to_owned());
        }
        if head[4..20] != self.uuid {
            return Err("this packet is of another trace: its uuid is not the metadata's".to_owned());
        }
        let size = word(PACKET_SIZE)?;
        let whole = content.is_multiple_of(8) && size.is_multiple_of(64) && HEADER * 8 <= content && content <= size;
        let end = offset.checked_add(size / 8).filter(|_| whole);
        let end = end.ok_or_else(|| format!("a packet of {size} bits cannot hold {content} bits"))?;
        Ok(Packet {
            offset,
            end,
            content_end: offset + content / 8,
            stream_id: self.number(head, 20),
            discarded: word(DISCARDED)?,
            sequence: word(SEQUENCE)?,
            tid: word(TID)?,
        })
    }

    /// Where the file ends but for prepared packets at its end. A recorder that ends cuts nothing before it.
    pub(crate) fn written(&self) -> u64 {
        let mut end = self.map.bytes().len() as u64;
        while end >= PAGE && end.is_multiple_of(PAGE) && self.at(end - PAGE).is_ok_and(|packet| packet.is_prepared()) {
            end -= PAGE;
        }
        end
    }

    fn number(&self, head: &[u8; HEADER as usize], at: usize) -> u32 {
        self.byte_order.u32([head[at], head[at + 1], head[at + 2], head[at + 3]])
    }
}

impl Packet {
    /// Whether nobody has entered it.
    pub(crate) fn is_prepared(&self) -> bool {
        self.sequence == 0
    }
}
