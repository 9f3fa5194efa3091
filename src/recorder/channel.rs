//! The low-rate channel of a session: what is needed to read the rest. Never overwritten.

use std::io;
use std::path::Path;

use super::metadata::{PROCESS_STREAM, process_event};
use super::options::Mode;
use super::place::Place;
use super::ring::Ring;
use crate::sdt::Buffer;

/// The most it takes, in bytes.
const SIZE: u64 = 64 << 20;

/// Written under the lock of the sessions: it is nobody's ring, and everybody's.
pub(super) struct Channel {
    ring: Ring<Place>,
}

impl Channel {
    /// Makes the channel's file.
    pub fn create(path: &Path, uuid: [u8; 16]) -> io::Result<Channel> {
        let ring = Ring::new(Place::create(path, uuid, PROCESS_STREAM, Mode::Stream, SIZE)?);
        ring.adopt(u64::from(std::process::id()));
        Ok(Channel { ring })
    }

    /// A thread has got a ring.
    pub fn thread(&self, thread: u64, name: &str) {
        self.ring.record(process_event::THREAD, &(thread, name.as_bytes()));
    }

    /// Events were lost that no ring counts.
    pub fn lost(&self, count: u64, reason: &str) {
        self.ring.record(process_event::LOST, &(count, reason.as_bytes()));
    }

    /// The time.
    pub fn clock(&self, realtime: u64) {
        self.ring.record(process_event::CLOCK, &(realtime,));
    }

    /// A snapshot was taken.
    pub fn snapshot(&self, cause: &str, folder: &Path) {
        let folder = folder.as_os_str().as_encoded_bytes();
        let folder = &folder[..folder.len().min(Buffer::LIMIT)];
        self.ring.record(process_event::SNAPSHOT, &(cause.as_bytes(), folder));
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
