//! The bytes that wait to be written to a peer: one buffer, so that one system call writes many messages.

use std::mem;
use std::sync::Arc;

use dyntrace_probes::primitives::{Mutex, lock};
use tokio::sync::Notify;

use super::budget::{Account, Charge};

/// A buffer larger than this is freed after use.
const KEPT: usize = 4 << 20;

pub(super) struct Outgoing {
    waiting: Mutex<Waiting>,
    filled: Notify,
    taken: Notify,
    limit: usize,
    /// Charged for signals.
    kept: Arc<Account>,
}

#[derive(Default)]
struct Waiting {
    batch: Batch,
    /// A batch is being written.
    writing: bool,
    /// A sender found no room.
    busy: bool,
    state: State,
}

/// Whether more bytes may be appended.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    /// No more are appended; the waiting ones are still written.
    Ending,
    /// No bytes are appended or written.
    Closed,
}

/// Bytes that are written together.
#[derive(Default)]
pub(super) struct Batch {
    pub bytes: Vec<u8>,
    /// Charges of the signals among them.
    signals: Option<Charge>,
}

/// Why bytes are not appended.
#[derive(Debug)]
pub(super) enum Refused {
    /// The connection has ended.
    Closed,
    /// The peer's account has no room for another signal.
    Exceeded,
}

impl Outgoing {
    pub(super) fn new(limit: usize, kept: Arc<Account>) -> Outgoing {
        Outgoing { waiting: Mutex::new(Waiting::default()), filled: Notify::new(), taken: Notify::new(), limit, kept }
    }

    /// Appends `bytes` once there is room. Calls `busy` if it has to wait, and `accepted` before it appends, both with the buffer locked:
    /// otherwise a trace could show `not_busy`, or what the receiver does, first.
    ///
    /// # Errors
    ///
    /// [`Refused::Closed`].
    ///
    /// # Cancellation
    ///
    /// A future that is dropped while it waits has appended nothing.
    pub(super) async fn send(&self, bytes: &[u8], busy: impl FnOnce(), accepted: impl FnOnce()) -> Result<(), Refused> {
        let mut busy = Some(busy);
        loop {
            // Registered before the look at the buffer: a batch that is taken later wakes it.
            let taken = self.taken.notified();
            {
                let mut waiting = lock(&self.waiting);
                if waiting.state != State::Open {
                    return Err(Refused::Closed);
                }
                // Whatever its size: otherwise small messages would leave no room for a large one.
                if waiting.batch.bytes.len() < self.limit {
                    accepted();
                    self.append(&mut waiting, bytes);
                    return Ok(());
                }
                waiting.busy = true;
                if let Some(busy) = busy.take() {
                    busy();
                }
            }
            taken.await;
        }
    }

    /// Appends `bytes` at once and charges the peer, which has caused them.
    ///
    /// # Errors
    ///
    /// [`Refused`].
    pub(super) fn signal(&self, bytes: &[u8]) -> Result<(), Refused> {
        let mut waiting = lock(&self.waiting);
        if waiting.state != State::Open {
            return Err(Refused::Closed);
        }
        // The buffer doubles as it grows, so it takes up to twice its contents.
        let room = 2 * bytes.len();
        let charged = match &mut waiting.batch.signals {
            Some(charge) => charge.grow(room),
            none => self.kept.charge(room).map(|charge| *none = Some(charge)),
        };
        charged.map_err(|_| Refused::Exceeded)?;
        self.append(&mut waiting, bytes);
        Ok(())
    }

    fn append(&self, waiting: &mut Waiting, bytes: &[u8]) {
        let first = waiting.batch.bytes.is_empty();
        waiting.batch.bytes.extend_from_slice(bytes);
        if first {
            self.filled.notify_one();
        }
    }

    /// Waits for bytes and takes them, in exchange for `written`. Calls `not_busy` if senders waited. Returns false if the connection
    /// ends. For one caller.
    pub(super) async fn take(&self, written: &mut Batch, not_busy: impl Fn()) -> bool {
        written.bytes.clear();
        written.bytes.shrink_to(KEPT);
        written.signals = None;
        loop {
            let state = {
                let mut waiting = lock(&self.waiting);
                mem::swap(&mut waiting.batch, written);
                waiting.writing = !written.bytes.is_empty();
                if mem::take(&mut waiting.busy) {
                    not_busy();
                }
                waiting.state
            };
            self.taken.notify_waiters();
            if !written.bytes.is_empty() {
                return true;
            }
            if state != State::Open {
                return false;
            }
            self.filled.notified().await;
        }
    }

    /// Waits until all bytes are written.
    pub(super) async fn flush(&self) {
        loop {
            let taken = self.taken.notified();
            {
                let waiting = lock(&self.waiting);
                if waiting.state == State::Closed || waiting.batch.bytes.is_empty() && !waiting.writing {
                    return;
                }
            }
            taken.await;
        }
    }

    /// Stops appending. The bytes that wait are still taken.
    pub(super) fn end(&self) {
        let mut waiting = lock(&self.waiting);
        if waiting.state == State::Open {
            waiting.state = State::Ending;
        }
        drop(waiting);
        self.filled.notify_one();
        self.taken.notify_waiters();
    }

    /// Stops appending and taking. Waiting senders return.
    pub(super) fn close(&self) {
        let mut waiting = lock(&self.waiting);
        waiting.state = State::Closed;
        let batch = mem::take(&mut waiting.batch);
        drop(waiting);
        drop(batch);
        self.taken.notify_waiters();
    }
}
