//! The low-rate channel of a session: what is needed to read the rest. Never overwritten.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use dyntrace_folders::Folder;

use super::metadata::{PROCESS_STREAM, process_event};
use super::modules::Module;
use super::options::Mode;
use super::ring::Ring;
use super::ring_checksums::Progress;
use super::ring_file::RingFile;
use crate::text::Buffer;

/// The most it takes, in bytes.
const SIZE: u64 = 64 << 20;

/// Written under the lock of the sessions: it is nobody's ring, and everybody's.
pub(super) struct Channel {
    ring: Ring<RingFile>,
    checksums: Progress,
}

impl Channel {
    /// Makes the channel's file.
    pub fn create(folder: &Folder, name: &str, uuid: [u8; 16]) -> io::Result<Channel> {
        let ring = Ring::new(RingFile::create(folder, name, uuid, PROCESS_STREAM, Mode::Stream, SIZE)?, 0);
        ring.adopt(u64::from(std::process::id()));
        Ok(Channel { ring, checksums: Progress::default() })
    }

    /// Makes the checksums of its packets that are complete.
    pub fn make_checksums(&mut self, budget: &mut u64) {
        self.checksums.advance(&self.ring, budget);
    }

    /// A thread has got a ring.
    pub fn thread(&self, thread: u64, name: &str) {
        self.ring.record(process_event::THREAD, &(thread, name.as_bytes()));
    }

    /// Something is lost that cannot be counted.
    pub fn lost(&self, reason: &str) {
        self.ring.record(process_event::LOST, &(0_u64, reason.as_bytes()));
    }

    /// The time.
    pub fn clock(&self, realtime: u64) {
        self.ring.record(process_event::CLOCK, &(realtime,));
    }

    /// A snapshot was taken.
    pub fn snapshot(&self, cause: &str, folder: &Path) {
        self.ring.record(process_event::SNAPSHOT, &(cause.as_bytes(), cut(folder)));
    }

    /// A module of code was loaded.
    pub fn module(&self, module: &Module) {
        let Module { name, version, file, mapped, start, size } = module;
        let payload = (cut(name), cut(version), cut(file), cut(mapped), *start, *size);
        self.ring.record(process_event::MODULE, &payload);
    }

    /// So many more causes for snapshots got none.
    pub fn suppressed(&self, count: u64) {
        self.ring.record(process_event::SUPPRESSED, &(count,));
    }

    /// The session ends in order; the rings have counted so many lost events.
    pub fn end(&self, discarded: u64) {
        self.ring.record(process_event::END, &(discarded,));
    }
}

/// As much of a text as an event can have.
fn cut(text: &(impl AsRef<OsStr> + ?Sized)) -> &[u8] {
    let bytes = text.as_ref().as_encoded_bytes();
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    &bytes[..end.min(Buffer::LIMIT)]
}
