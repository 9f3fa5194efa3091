//! The layout of a stream file: packets with a header of 80 bytes, in whole pages.
//!
//! A prepared page that no writer has entered is a valid empty packet of one page, so a file may grow by any number of them. The writer
//! that enters a sub-buffer stores a header whose packet size covers the prepared pages after it. From then on the content size is the
//! commit word: bytes within it are complete.

/// A file grows by pages of this many bytes.
pub const PAGE: usize = 4096;
/// The bytes that a writer enters at once. At the end of a file there may be fewer.
pub const SUB_BUFFER: usize = 32768;
/// Bytes of packet header and context before the first event.
pub const HEADER: usize = 80;

/// The first word of each packet.
pub const MAGIC: u32 = 0xC1FC_1FC1;

/// The offsets of a header's fields, in bytes.
pub mod offset {
    /// u32: [`MAGIC`](super::MAGIC).
    pub const MAGIC: usize = 0;
    /// 16 bytes: the trace's uuid.
    pub const UUID: usize = 4;
    /// u32: stream class.
    pub const STREAM_ID: usize = 20;
    /// u64: used bits, including the header's. The commit word.
    pub const CONTENT_SIZE: usize = 24;
    /// u64: bits up to the next packet.
    pub const PACKET_SIZE: usize = 32;
    /// u64: events that the ring had discarded so far.
    pub const DISCARDED: usize = 40;
    /// u64: number of the packet in its ring, from 1; 0 for a prepared page.
    pub const SEQUENCE: usize = 48;
    /// u64: the thread that wrote it.
    pub const TID: usize = 56;
    /// u64: the number of its ring and file; 0 in the low-rate channel.
    pub const RING: usize = 64;
    /// u64: see [`checksum`](crate::checksum).
    pub const CHECKSUM: usize = 72;
}
