//! The memory of a ring: a mapped stream file, used as the session's mode says.

use std::io;
use std::slice;
use std::sync::atomic::{AtomicBool, AtomicU32};

use dyntrace_folders::Folder;
use dyntrace_metadata::event_header::{COMPACT_SIZE, EventHeader, WHOLE_SIZE};
use dyntrace_metadata::packet::SUB_BUFFER;
use rustix::io::Errno;

use super::form::Form;
use super::mode::Mode;
use super::payload::Payload;
use super::ring::{Space, Word};
use super::stream_file::StreamFile;
use crate::clock;
use crate::primitives::atomic::AtomicU64;
use crate::primitives::atomic::Ordering::Relaxed;

/// How much a writer that has reached the end of the prepared pages prepares at once, in bytes.
const AT_ONCE: u64 = 256 << 10;

/// The first size of a growing file, in bytes.
const AT_FIRST: u64 = 2 * SUB_BUFFER as u64;

/// The number of rings that are at their end.
static AT_END: AtomicU32 = AtomicU32::new(0);

/// Whether any ring is at its end. For generated code: without one, it does not ask whether a firing would be discarded.
#[doc(hidden)]
#[inline(always)]
pub fn is_a_ring_at_end() -> bool {
    // Relaxed: a hint. A thread that gets an older answer discards the firing later.
    AT_END.load(Relaxed) != 0
}

pub struct RingFile {
    file: StreamFile,
    mode: Mode,
    /// The file's largest size, in bytes: whole sub-buffers.
    size: u64,
    /// The mask that turns a position into an offset; all ones unless the file is circular.
    mask: u64,
    /// The file cannot grow now. Only the maintenance thread tries again.
    full: AtomicBool,
    /// An event did not fit in the largest size. This is final.
    at_end: AtomicBool,
}

impl RingFile {
    /// Creates a file of at most `size` bytes, whole sub-buffers.
    pub fn create(
        folder: &Folder,
        name: &str,
        uuid: [u8; 16],
        stream: u32,
        mode: Mode,
        size: u64,
    ) -> io::Result<RingFile> {
        let file = StreamFile::create(folder, name, uuid, stream, size, Self::first_size(mode, size))?;
        file.populate(0, file.prepared());
        let size = file.limit() / SUB_BUFFER as u64 * SUB_BUFFER as u64;
        if size == 0 {
            // No event would fit.
            drop(file);
            let _ = folder.remove_file(name);
            return Err(Errno::FBIG.into());
        }
        let (size, mask) = match mode {
            Mode::Overwrite => {
                // The largest circular file within the system's limit.
                let size = 1 << size.checked_ilog2().ok_or(Errno::FBIG)?;
                (size, size - 1)
            }
            Mode::Stream | Mode::Discard => (size, u64::MAX),
        };
        Ok(RingFile { file, mode, size, mask, full: AtomicBool::new(false), at_end: AtomicBool::new(false) })
    }

    /// The bytes that a new file of at most `size` bytes takes.
    pub fn first_size(mode: Mode, size: u64) -> u64 {
        if mode == Mode::Stream { AT_FIRST.min(size) } else { size }
    }

    #[inline]
    pub fn file(&self) -> &StreamFile {
        &self.file
    }

    /// The prepared part of the file, in bytes.
    #[inline]
    pub fn prepared(&self) -> u64 {
        self.file.prepared()
    }

    /// Prepares the file from `from` to `upto`, ahead of its writer. Clears [`is_full`](Self::is_full) if that succeeds.
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

    /// Whether one more packet fits after `position`, given space on the disk.
    #[inline]
    pub fn may_hold(&self, position: u64) -> bool {
        self.mode == Mode::Overwrite || position.next_multiple_of(SUB_BUFFER as u64) + SUB_BUFFER as u64 <= self.size
    }

    /// Whether the file cannot grow now.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.full.load(Relaxed)
    }

    /// Whether the writer has reached the largest size.
    #[inline(always)]
    pub fn is_at_end(&self) -> bool {
        self.at_end.load(Relaxed)
    }

    /// The number of packets in it.
    #[inline]
    pub fn packets(&self) -> u64 {
        self.size / SUB_BUFFER as u64
    }

    /// The words of a packet that the writer has entered.
    #[inline]
    pub fn packet(&self, packet: u64) -> &[AtomicU64] {
        let at = self.at(packet * SUB_BUFFER as u64);
        // SAFETY: `prepare` has granted the packet to its writer, so it is in the mapping, which lives as long as `file`, and begins at a
        // page. All access is by atomics or by the writer, whose changes the caller detects afterwards.
        unsafe { slice::from_raw_parts(self.file.base().add(at).cast::<AtomicU64>(), SUB_BUFFER / 8) }
    }

    /// The offset of a position in the file.
    #[inline(always)]
    fn at(&self, position: u64) -> usize {
        (position & self.mask) as usize
    }

    #[cold]
    fn grow(&self, needed: u64) -> bool {
        if needed > self.size {
            if !self.at_end.swap(true, Relaxed) {
                AT_END.fetch_add(1, Relaxed);
            }
            return false;
        }
        if self.full.load(Relaxed) {
            return false;
        }
        // The maintenance thread gets the same error, and reports it.
        let is_prepared = self.file.prepare((needed + AT_ONCE).min(self.size)).unwrap_or(0) >= needed;
        self.full.store(!is_prepared, Relaxed);
        is_prepared
    }
}

impl Drop for RingFile {
    fn drop(&mut self) {
        if *self.at_end.get_mut() {
            AT_END.fetch_sub(1, Relaxed);
        }
    }
}

impl Space for RingFile {
    #[inline]
    fn prepare(&self, position: u64) -> bool {
        let needed = position + SUB_BUFFER as u64;
        self.mode == Mode::Overwrite || needed <= self.file.prepared().min(self.size) || self.grow(needed)
    }

    #[inline]
    fn circular_packets(&self) -> u64 {
        if self.mode == Mode::Overwrite { self.size / SUB_BUFFER as u64 } else { u64::MAX }
    }

    #[inline(always)]
    fn header(&self, packet: u64, word: Word) -> &AtomicU64 {
        // SAFETY: a ring only asks for packets that `prepare` has granted. They are in the mapping, which lives as long as `file`; fields
        // are aligned to 8, and accessed as atomics only.
        unsafe { &*self.file.base().add(self.at(packet * SUB_BUFFER as u64) + word.offset()).cast::<AtomicU64>() }
    }

    fn show_discarded(&self, position: u64, discarded: u64) {
        // Packets of a circular file that were never entered are in no trace.
        if self.mode != Mode::Overwrite {
            self.file.set_discarded(position, discarded);
        }
    }

    #[inline(always)]
    fn put(&self, position: u64, header: EventHeader, payload: &impl Payload, form: Form) {
        // SAFETY: the ring has reserved the space from `position` on for this event, in a packet that `prepare` has granted. No packet
        // crosses the end of a circular file.
        unsafe {
            let at = self.file.base().add(self.at(position));
            match header.compact() {
                Some(compact) => at.cast::<[u8; COMPACT_SIZE]>().write(compact),
                None => at.cast::<[u8; WHOLE_SIZE]>().write(header.whole()),
            }
            payload.put(at.add(header.size()), form);
        }
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        clock::now()
    }
}
