//! Where a ring is: a stream file in memory, as one of the modes uses it.

use std::io;
use std::slice;
use std::sync::atomic::AtomicBool;

use dyntrace_folders::Folder;
use rustix::io::Errno;

use super::layout::{SUB_BUFFER, offset};
use super::options::Mode;
use super::payload::Payload;
use super::ring::{Space, Word};
use super::stream_file::StreamFile;
use crate::clock;
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::Relaxed;

/// What a writer that has overtaken the preparation prepares at once, in bytes.
const AT_ONCE: u64 = 256 << 10;

/// What a file that grows has at first, in bytes.
const AT_FIRST: u64 = 2 * SUB_BUFFER as u64;

pub(super) struct RingFile {
    file: StreamFile,
    mode: Mode,
    /// The most that the file may hold, in bytes: whole sub-buffers.
    size: u64,
    /// Of positions: what a circle leaves of them; all of it elsewhere.
    mask: u64,
    /// No more can be had for now. Only the maintenance thread tries again.
    full: AtomicBool,
    /// An event has found no room in all of its size: that is for good.
    at_end: AtomicBool,
}

impl RingFile {
    /// A new file that may hold `size` bytes, whole sub-buffers.
    pub fn create(
        folder: &Folder,
        name: &str,
        uuid: [u8; 16],
        stream: u32,
        mode: Mode,
        size: u64,
    ) -> io::Result<RingFile> {
        let at_first = if mode == Mode::Stream { AT_FIRST } else { size };
        let file = StreamFile::create(folder, name, uuid, stream, size, at_first)?;
        file.populate(0, file.prepared());
        let size = file.limit() / SUB_BUFFER as u64 * SUB_BUFFER as u64;
        if size == 0 {
            // No event would ever have room.
            drop(file);
            let _ = folder.remove_file(name);
            return Err(Errno::FBIG.into());
        }
        let (size, mask) = match mode {
            Mode::Overwrite => {
                // The largest circle that there is room for, if the system allowed less than was asked for.
                let size = 1 << size.checked_ilog2().ok_or(Errno::FBIG)?;
                (size, size - 1)
            }
            Mode::Stream | Mode::Discard => (size, u64::MAX),
        };
        Ok(RingFile { file, mode, size, mask, full: AtomicBool::new(false), at_end: AtomicBool::new(false) })
    }

    pub fn file(&self) -> &StreamFile {
        &self.file
    }

    /// How much of the file is there, in bytes.
    pub fn prepared(&self) -> u64 {
        self.file.prepared()
    }

    /// Gets the file ready from `from` up to `upto`, ahead of its writer; tells the writer if there is room again.
    pub fn prepare_ahead(&self, from: u64, upto: u64) -> io::Result<()> {
        let before = self.file.prepared();
        let upto = upto.min(self.size);
        let prepared = self.file.prepare(upto)?;
        self.file.populate(before.max(from), prepared);
        if prepared >= upto && upto < self.size {
            self.full.store(false, Relaxed);
        }
        Ok(())
    }

    /// Whether one more packet may come behind `position`, if the disk has room.
    pub fn may_hold(&self, position: u64) -> bool {
        self.mode == Mode::Overwrite || position.next_multiple_of(SUB_BUFFER as u64) + SUB_BUFFER as u64 <= self.size
    }

    /// Whether its writer finds no more room.
    pub fn is_full(&self) -> bool {
        self.full.load(Relaxed)
    }

    /// Whether its writer found no more room, and never will.
    #[inline(always)]
    pub fn is_at_end(&self) -> bool {
        self.at_end.load(Relaxed)
    }

    /// How many packets it holds at once.
    pub fn packets(&self) -> u64 {
        self.size / SUB_BUFFER as u64
    }

    /// The words of a packet that its writer has entered.
    pub fn packet(&self, packet: u64) -> &[AtomicU64] {
        let at = self.at(packet * SUB_BUFFER as u64);
        // SAFETY: `prepare` has granted the packet to its writer: it is in the mapping, which lives as long as `file`, and
        // begins at a page. All access to it is by atomics or by the writer, whose changes the caller finds out afterwards.
        unsafe { slice::from_raw_parts(self.file.base().add(at).cast::<AtomicU64>(), SUB_BUFFER / 8) }
    }

    /// Where a position is in the file.
    #[inline(always)]
    fn at(&self, position: u64) -> usize {
        (position & self.mask) as usize
    }

    #[cold]
    fn grow(&self, needed: u64) -> bool {
        if needed > self.size {
            self.at_end.store(true, Relaxed);
            return false;
        }
        if self.full.load(Relaxed) {
            return false;
        }
        // Whatever the error, there is no room; the maintenance thread meets it, too, and tells.
        let there = self.file.prepare((needed + AT_ONCE).min(self.size)).unwrap_or(0) >= needed;
        self.full.store(!there, Relaxed);
        there
    }
}

impl Space for RingFile {
    fn prepare(&self, position: u64) -> bool {
        let needed = position + SUB_BUFFER as u64;
        self.mode == Mode::Overwrite || needed <= self.file.prepared().min(self.size) || self.grow(needed)
    }

    fn circle(&self) -> u64 {
        if self.mode == Mode::Overwrite { self.size / SUB_BUFFER as u64 } else { u64::MAX }
    }

    #[inline(always)]
    fn header(&self, packet: u64, word: Word) -> &AtomicU64 {
        let field = match word {
            Word::ContentSize => offset::CONTENT_SIZE,
            Word::PacketSize => offset::PACKET_SIZE,
            Word::Discarded => offset::DISCARDED,
            Word::Sequence => offset::SEQUENCE,
            Word::Thread => offset::TID,
            Word::Number => offset::RING,
            Word::Checksum => offset::CHECKSUM,
        };
        // SAFETY: a ring asks for packets that `prepare` has granted only: they are in the mapping, which lives as long as
        // `file`; fields are aligned to 8, and change behind shared references only.
        unsafe { &*self.file.base().add(self.at(packet * SUB_BUFFER as u64) + field).cast::<AtomicU64>() }
    }

    fn show_discarded(&self, position: u64, discarded: u64) {
        // Packets of a circle that were never entered are in no trace.
        if self.mode != Mode::Overwrite {
            self.file.set_discarded(position, discarded);
        }
    }

    #[inline(always)]
    fn put(&self, position: u64, id: u16, time: u64, payload: &impl Payload) {
        // SAFETY: the ring has reserved the space from `position` on for this event, in a packet that `prepare` has granted;
        // no packet goes over the end of a circle.
        unsafe {
            let at = self.file.base().add(self.at(position));
            at.cast::<u16>().write_unaligned(id);
            at.add(2).cast::<u64>().write_unaligned(time);
            payload.put(at.add(10));
        }
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        clock::now()
    }
}
