//! The low-rate channel of a session: facts that readers need for the other files. Never overwritten.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use dyntrace_folders::Folder;
use dyntrace_metadata::packet::SUB_BUFFER;
use dyntrace_probes::rings::mode::Mode;
use dyntrace_probes::rings::ring::Ring;
use dyntrace_probes::rings::ring_file::RingFile;
use dyntrace_probes::text::Buffer;

use super::metadata::{PROCESS_STREAM, process_event};
use super::modules::Module;
use super::ring_checksums::Progress;

/// Its largest size, in bytes.
const SIZE: u64 = 64 << 20;

/// The end of the file, which the names of threads leave to the other facts.
const RESERVED: u64 = 1 << 20;

/// A ring that any thread writes under the lock of the sessions.
pub(super) struct Channel {
    ring: Ring<RingFile>,
    checksums: Progress,
}

impl Channel {
    /// Creates the channel's file.
    pub fn create(folder: &Folder, name: &str, uuid: [u8; 16]) -> io::Result<Channel> {
        let ring = Ring::new(RingFile::create(folder, name, uuid, PROCESS_STREAM, Mode::Stream, SIZE)?, 0);
        ring.adopt(u64::from(std::process::id()));
        Ok(Channel { ring, checksums: Progress::default() })
    }

    /// Lets the file grow again if it could not before, for instance on a full disk.
    pub fn keep_room(&self) {
        let file = self.ring.space();
        if file.is_full() {
            let position = self.ring.position();
            // If it cannot, the next look tries again. Facts that find no room until then are missing from the trace.
            let _ = file.prepare_ahead(position, position + 2 * SUB_BUFFER as u64);
        }
    }

    /// Computes the checksums of complete packets.
    pub fn make_checksums(&mut self, budget: &mut u64) {
        self.checksums.advance(&self.ring, budget);
    }

    /// Reports that a thread has a ring. A program that starts threads all the time has its later names left out.
    pub fn thread(&self, thread: u64, name: &str) {
        let size = self.ring.space().packets() * SUB_BUFFER as u64;
        if self.ring.position() + RESERVED.min(size / 2) > size {
            return;
        }
        self.ring.record(process_event::THREAD, (thread, name.as_bytes()));
    }

    /// Reports an uncountable loss.
    pub fn lost(&self, reason: &str) {
        self.ring.record(process_event::LOST, (0_u64, reason.as_bytes()));
    }

    /// Reports the time.
    pub fn clock(&self, realtime: u64) {
        self.ring.record(process_event::CLOCK, (realtime,));
    }

    /// Reports a snapshot.
    pub fn snapshot(&self, cause: &str, folder: &Path) {
        self.ring.record(process_event::SNAPSHOT, (cause.as_bytes(), cut(folder)));
    }

    /// Reports a loaded module.
    pub fn module(&self, module: &Module) {
        let Module { name, version, file, mapped, start, size } = module;
        let payload = (cut(name), cut(version), cut(file), cut(mapped), *start, *size);
        self.ring.record(process_event::MODULE, payload);
    }

    /// Reports more requests that got no snapshot.
    pub fn suppressed(&self, count: u64) {
        self.ring.record(process_event::SUPPRESSED, (count,));
    }

    /// Reports the regular end of the session, and how many events were lost.
    pub fn end(&self, discarded: u64) {
        self.ring.record(process_event::END, (discarded,));
    }
}

/// The part of a text that fits an event.
fn cut(text: &(impl AsRef<OsStr> + ?Sized)) -> &[u8] {
    let bytes = text.as_ref().as_encoded_bytes();
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    &bytes[..end.min(Buffer::LIMIT)]
}
