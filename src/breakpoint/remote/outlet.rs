//! The process's side of a connection: sends whole messages to a client that may be slow.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::SendFlags;

use crate::breakpoint::event::Event;
use crate::recorder::control::clients::{ClosedInChildren, encode, send_all, stays};
use crate::recorder::control::protocol::Record;

use super::messages;

/// How often a wait for the client checks whether it should go on.
const LOOK: Duration = Duration::from_millis(100);

/// The connection.
pub(super) struct Outlet {
    _closed: ClosedInChildren,
    stream: UnixStream,
    /// Whether messages can follow: false after a partial one.
    is_open: Mutex<bool>,
    /// When waits for the client end.
    until: Mutex<Option<Instant>>,
    unheard: AtomicU64,
}

/// The exclusive right to send.
pub(super) struct Turn<'a> {
    outlet: &'a Outlet,
    is_open: MutexGuard<'a, bool>,
}

impl Outlet {
    pub(super) fn new(stream: UnixStream) -> io::Result<Outlet> {
        stream.set_nonblocking(true)?;
        let _closed = ClosedInChildren::new(&stream);
        Ok(Outlet { _closed, stream, is_open: Mutex::new(true), until: Mutex::new(None), unheard: AtomicU64::new(0) })
    }

    /// Waits for the right to send.
    pub(super) fn turn(&self) -> Turn<'_> {
        Turn { outlet: self, is_open: self.is_open.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// Returns the right to send if it is free. Its holder may be waiting for the client.
    pub(super) fn turn_now(&self) -> Option<Turn<'_>> {
        Some(Turn { outlet: self, is_open: self.is_open.try_lock().ok()? })
    }

    /// Sends an event, or counts it if that fails.
    pub(super) fn tell(&self, event: &Event) {
        if !self.turn().send(Ok(vec![messages::event(event)])) {
            self.unheard.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the number of events that could not be sent.
    pub(super) fn unheard(&self) -> u64 {
        self.unheard.load(Ordering::Relaxed)
    }

    /// Ends waits for the client `time` from now.
    pub(super) fn wait_at_most(&self, time: Duration) {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + time);
    }

    /// Waits at most `time` for the client to close its side. Returns whether it is still connected.
    pub(super) fn stays(&self, time: Duration) -> bool {
        stays(&self.stream, time)
    }

    fn is_waited_for(&self) -> bool {
        self.until.lock().unwrap_or_else(PoisonError::into_inner).is_none_or(|until| Instant::now() < until)
    }

    /// Returns whether to go on with a message for which the socket has no room. Waits a while for room.
    fn waits_for_room(&self) -> bool {
        let is_waited_for = self.is_waited_for();
        if is_waited_for {
            let time = Timespec::try_from(LOOK).expect("a time of seconds");
            // An error shows up again when the rest is sent.
            let _ = poll(&mut [PollFd::new(&self.stream, PollFlags::OUT)], Some(&time));
        }
        is_waited_for
    }
}

impl Turn<'_> {
    /// Sends a message. Returns whether it was sent whole.
    pub(super) fn send(&mut self, message: Result<Vec<Record>, String>) -> bool {
        if *self.is_open {
            let outlet = self.outlet;
            let message = encode(message);
            *self.is_open = send_all(&outlet.stream, &message, SendFlags::DONTWAIT, || outlet.waits_for_room());
        }
        *self.is_open
    }
}
