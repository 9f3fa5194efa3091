//! Counters of events that no ring counts: those of threads without a ring, and those above the rate. Each is a file, so that the trace
//! has the count however the program ends.
//!
//! A file has two packets without events. The count is the number of discarded events in the second one; readers of the format take the
//! difference of the two. Checksums leave that number out, so both packets have theirs from the beginning.

use std::io;
use std::ptr;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use dyntrace_folders::Folder;
use dyntrace_metadata::checksum;
use dyntrace_metadata::packet::{HEADER, PAGE, offset};
use rustix::io::Errno;

use super::header::{Header, RING_STREAM};
use super::stream_file::StreamFile;

/// The name of the file for threads without a ring. `crates/reader` knows both names.
pub const RINGLESS: &str = "ringless";
/// The name of the file for events above the rate.
pub const ABOVE_RATE: &str = "above-rate";

const SIZE: usize = 2 * PAGE;

/// A counter, in its mapped file.
pub struct LostCounter {
    name: &'static str,
    file: StreamFile,
}

impl LostCounter {
    /// Creates the file.
    ///
    /// # Errors
    ///
    /// The system's, without the path. Then there is no file.
    pub fn create(folder: &Folder, name: &'static str, uuid: [u8; 16]) -> io::Result<LostCounter> {
        let file = StreamFile::create(folder, name, uuid, RING_STREAM, SIZE as u64, SIZE as u64)?;
        if file.prepared() < SIZE as u64 {
            drop(file);
            let _ = folder.remove_file(name);
            return Err(Errno::FBIG.into());
        }
        file.populate(0, SIZE as u64);
        for number in 0..2 {
            let header = header(uuid, number as u64 + 1);
            // SAFETY: the packet is in the mapping and below the file's length, as checked above. No other thread has it yet.
            unsafe { ptr::copy_nonoverlapping(header.as_ptr(), file.base().add(number * PAGE), HEADER) };
        }
        Ok(LostCounter { name, file })
    }

    /// Counts one event. Safe in signal handlers.
    pub fn add_one(&self) {
        // Relaxed: the number orders nothing.
        self.word().fetch_add(1, Relaxed);
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn count(&self) -> u64 {
        self.word().load(Relaxed)
    }

    fn word(&self) -> &AtomicU64 {
        // SAFETY: in the mapping and below the file's length, since `create`; aligned to 8, and behind shared references from then on.
        unsafe { &*self.file.base().add(PAGE + offset::DISCARDED).cast::<AtomicU64>() }
    }
}

fn header(uuid: [u8; 16], sequence: u64) -> [u8; HEADER] {
    let open = Header { sequence, ..Header::of_page(uuid, RING_STREAM) };
    Header { checksum: checksum::sum(&open.encode(), &[]), ..open }.encode()
}
