//! What waits to be written to a peer: one run of bytes, so that many messages go out by one system call, and so that what a
//! peer who does not read takes of memory is known.

use std::mem;

use tokio::sync::Notify;

use crate::sync::{Mutex, lock};

/// A buffer that grew for large messages is given back.
const KEPT: usize = 4 << 20;

pub(super) struct Outgoing {
    waiting: Mutex<Waiting>,
    filled: Notify,
    taken: Notify,
    limit: usize,
}

#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// Some were taken, and are being written.
    writing: bool,
    closed: bool,
}

/// Why nothing more is taken.
#[derive(Debug)]
pub(super) struct Closed;

impl Outgoing {
    pub(super) fn new(limit: usize) -> Outgoing {
        Outgoing { waiting: Mutex::new(Waiting::default()), filled: Notify::new(), taken: Notify::new(), limit }
    }

    /// Appends `bytes` once there is room; `busy` is told if there is none at first. Dropped while it waits, it has appended
    /// nothing.
    pub(super) async fn send(&self, bytes: &[u8], busy: impl FnOnce()) -> Result<(), Closed> {
        let mut busy = Some(busy);
        loop {
            // Made before the look at the buffer: what is taken after that look wakes it.
            let taken = self.taken.notified();
            if self.append(bytes, self.limit)? {
                return Ok(());
            }
            if let Some(busy) = busy.take() {
                busy();
            }
            taken.await;
        }
    }

    /// Appends `bytes`, whether there is room or not: for what follows from what a peer did, and is smaller.
    pub(super) fn signal(&self, bytes: &[u8]) -> Result<(), Closed> {
        self.append(bytes, usize::MAX).map(drop)
    }

    fn append(&self, bytes: &[u8], limit: usize) -> Result<bool, Closed> {
        let mut waiting = lock(&self.waiting);
        if waiting.closed {
            return Err(Closed);
        }
        let first = waiting.bytes.is_empty();
        // Whatever its size: else those that send little would leave no room for one that sends much.
        let fits = waiting.bytes.len() < limit;
        if fits {
            waiting.bytes.extend_from_slice(bytes);
        }
        drop(waiting);
        if first {
            self.filled.notify_one();
        }
        Ok(fits)
    }

    /// Takes all that waits, once there is something, in place of what `written` has. For one caller.
    pub(super) async fn take(&self, written: &mut Vec<u8>) {
        written.clear();
        written.shrink_to(KEPT);
        loop {
            {
                let mut waiting = lock(&self.waiting);
                mem::swap(&mut waiting.bytes, written);
                waiting.writing = !written.is_empty();
            }
            self.taken.notify_waiters();
            if !written.is_empty() {
                return;
            }
            self.filled.notified().await;
        }
    }

    /// Waits until nothing waits and nothing is being written.
    pub(super) async fn flush(&self) {
        loop {
            let taken = self.taken.notified();
            {
                let waiting = lock(&self.waiting);
                if waiting.closed || waiting.bytes.is_empty() && !waiting.writing {
                    return;
                }
            }
            taken.await;
        }
    }

    /// From here on nothing is appended, and nobody waits.
    pub(super) fn close(&self) {
        let mut waiting = lock(&self.waiting);
        waiting.closed = true;
        waiting.bytes = Vec::new();
        drop(waiting);
        self.taken.notify_waiters();
    }
}
