//! The server: one thread of the process that serves all connections.
//!
//! No client can block it: it waits for all connections at once, reads only bytes that have arrived, and closes connections that take too
//! long, send too much or do not read their answers.

use std::io;
use std::mem;
use std::os::fd::AsFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::{Duration, Instant};

use dyntrace_probes::rings::closed_in_children::ClosedInChildren;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv};
use rustix::process::geteuid;

use super::clients::{encode, send_all};
use super::extension::{self, Handler};
use super::figures::figures;
use super::peer::peer;
use super::protocol::{self, GREETING, ProtocolError, Record, Request};
use super::sessions::SessionAccess;

/// Limits of clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The most connections. More are refused.
    pub connections: usize,
    /// The longest time for a message to be complete, and for a client without a session to stay silent.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { connections: 64, patience: Duration::from_secs(10) }
    }
}

/// The pause in accepting after the process had no descriptor left.
const PAUSE: Duration = Duration::from_millis(100);

/// The server of one process.
pub(super) struct Server<S> {
    /// `None` once it is shut down: another server has taken its place.
    listener: Option<(ClosedInChildren, UnixListener)>,
    sessions: S,
    limits: Limits,
    connections: Vec<Connection>,
    /// Connections closed for their user, their number or their messages.
    refused: u64,
    accepts_after: Option<Instant>,
}

struct Connection {
    closed: ClosedInChildren,
    stream: UnixStream,
    arrived: Vec<u8>,
    has_greeted: bool,
    /// The sessions that end with it.
    sessions: Vec<u32>,
    /// When the present or next message has to be complete.
    deadline: Option<Instant>,
}

/// The next step of a connection.
enum Next {
    Continues,
    /// This handler takes it over.
    HandedOver(Handler, Record),
    /// The client has closed it.
    Ends,
    /// The server closes it, for this reason.
    Refused(String),
}

impl<S: SessionAccess> Server<S> {
    /// Creates a server for `listener`.
    pub(super) fn new(listener: UnixListener, sessions: S, limits: Limits) -> io::Result<Server<S>> {
        listener.set_nonblocking(true)?;
        Ok(Server {
            listener: Some((ClosedInChildren::new(&listener), listener)),
            sessions,
            limits,
            connections: Vec::new(),
            refused: 0,
            accepts_after: None,
        })
    }

    /// Serves until the listener is shut down and the last connection has ended.
    pub(super) fn serve(mut self) {
        while self.listener.is_some() || !self.connections.is_empty() {
            self.turn(None, &Instant::now);
        }
    }

    /// Waits for events, at most until `limit`, and handles them. `clock` tells the time, so that tests need not wait for deadlines.
    pub(super) fn turn(&mut self, limit: Option<Instant>, clock: &impl Fn() -> Instant) {
        let now = clock();
        if self.accepts_after.is_some_and(|time| time <= now) {
            self.accepts_after = None;
        }
        let deadlines = self.connections.iter().filter_map(|connection| connection.deadline);
        let until = deadlines.chain(limit).chain(self.accepts_after).min();
        let ready = self.wait(until.map(|time| time.saturating_duration_since(now)));
        let now = clock();
        for (mut connection, is_ready) in mem::take(&mut self.connections).into_iter().zip(ready.connections) {
            let next = if is_ready {
                self.read(&mut connection, now)
            } else if connection.deadline.is_some_and(|deadline| deadline <= now) {
                Next::Refused(format!("no complete message arrived for {:?}", self.limits.patience))
            } else {
                Next::Continues
            };
            match next {
                Next::Continues => self.connections.push(connection),
                Next::HandedOver(handler, record) => {
                    self.end(connection.sessions);
                    // The handler decides what children do with it.
                    drop(connection.closed);
                    handler(connection.stream, record);
                }
                Next::Ends => self.end(connection.sessions),
                Next::Refused(why) => {
                    self.refuse(&connection.stream, why);
                    self.end(connection.sessions);
                }
            }
        }
        if ready.listener {
            self.accept(now);
        }
        if ready.is_shut_down {
            self.listener = None;
        }
    }

    fn wait(&self, limit: Option<Duration>) -> Ready {
        let listens = if self.accepts_after.is_none() { PollFlags::IN } else { PollFlags::empty() };
        let mut fds: Vec<PollFd<'_>> =
            self.connections.iter().map(|connection| PollFd::new(&connection.stream, PollFlags::IN)).collect();
        let listener = self.listener.as_ref().map(|(_, listener)| PollFd::from_borrowed_fd(listener.as_fd(), listens));
        fds.extend(listener);
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        if let Err(error) = poll(&mut fds, limit.as_ref()) {
            // Out of memory, or refused: fewer descriptors are allowed than are open, or a filter forbids the call. None counts as ready.
            fds.iter_mut().for_each(PollFd::clear_revents);
            if error != Errno::INTR {
                thread::sleep(PAUSE);
            }
        }
        let is_shut_down = |fd: &PollFd<'_>| fd.revents().contains(PollFlags::HUP);
        let is_shut_down = self.listener.is_some() && fds.last().is_some_and(is_shut_down);
        let mut ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        let listener = self.listener.is_some() && ready.pop().unwrap_or(false);
        Ready { listener, is_shut_down, connections: ready }
    }

    fn accept(&mut self, now: Instant) {
        // Limited, so that clients that keep connecting do not block the others.
        for _ in 0..self.limits.connections {
            let Some((_, listener)) = &self.listener else { return };
            match listener.accept() {
                Ok((stream, _)) => self.receive(stream, now),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => {
                    // Most likely no descriptor is left. The connection waits, and would wake this thread at once.
                    self.accepts_after = Some(now + PAUSE);
                    return;
                }
            }
        }
    }

    fn receive(&mut self, stream: UnixStream, now: Instant) {
        match self.admit(&stream) {
            Ok(()) => {
                let deadline = Some(now + self.limits.patience);
                let (arrived, sessions) = (Vec::new(), Vec::new());
                let closed = ClosedInChildren::new(&stream);
                self.connections.push(Connection { closed, stream, arrived, has_greeted: false, sessions, deadline });
            }
            Err(why) => self.refuse(&stream, why),
        }
    }

    fn admit(&self, stream: &UnixStream) -> Result<(), String> {
        if self.connections.len() >= self.limits.connections {
            return Err(format!("{} clients are connected already", self.limits.connections));
        }
        let peer = peer(stream).map_err(|error| error.to_string())?;
        let own = geteuid().as_raw();
        if peer.uid != own && peer.uid != 0 {
            return Err(format!("user {} may not control a process of user {own}", peer.uid));
        }
        stream.set_nonblocking(true).map_err(|error| error.to_string())
    }

    fn refuse(&mut self, stream: &UnixStream, why: String) {
        self.refused += 1;
        answer(stream, Err(why));
    }

    fn end(&self, sessions: Vec<u32>) {
        for session in sessions {
            // Another client may have stopped it.
            let _ = self.sessions.stop(session);
        }
    }

    fn read(&mut self, connection: &mut Connection, now: Instant) -> Next {
        let mut piece = [0; 4096];
        match recv(&connection.stream, &mut piece, RecvFlags::empty()) {
            Ok((_, 0)) => return Next::Ends,
            Ok((_, length)) => connection.arrived.extend_from_slice(&piece[..length]),
            Err(Errno::AGAIN | Errno::INTR) => return Next::Continues,
            Err(_) => return Next::Ends,
        }
        let had_begun = connection.deadline.is_some();
        let mut has_answered = false;
        loop {
            let message = match protocol::take(&mut connection.arrived) {
                Ok(Some(message)) => message,
                Ok(None) => break,
                Err(error) => return Next::Refused(error.to_string()),
            };
            let found = if connection.has_greeted {
                let request = message.parse().map_err(|error: ProtocolError| error.to_string());
                match request.as_ref().ok().and_then(extension::handler) {
                    Some((handler, record)) => return Next::HandedOver(handler, record),
                    None => request.and_then(|request| self.perform(request, connection)),
                }
            } else if message == GREETING {
                connection.has_greeted = true;
                Ok(Vec::new())
            } else {
                return Next::Refused(ProtocolError::Greeting(message).to_string());
            };
            if !answer(&connection.stream, found) {
                return Next::Refused("the client does not read answers".to_owned());
            }
            has_answered = true;
        }
        let must_send = !connection.arrived.is_empty() || connection.sessions.is_empty();
        if !must_send {
            connection.deadline = None;
        } else if has_answered || !had_begun {
            connection.deadline = Some(now + self.limits.patience);
        }
        Next::Continues
    }

    fn perform(&self, request: Request, connection: &mut Connection) -> Result<Vec<Record>, String> {
        match request {
            Request::Start(options) => {
                let session = self.sessions.start(options)?;
                connection.sessions.push(session);
                Ok(vec![Record::default().with("session", session)])
            }
            Request::Change { session, probes, filter } => {
                self.sessions.change(session, probes, filter).map(|()| Vec::new())
            }
            Request::Stop(session) => {
                let summary = self.sessions.stop(session)?;
                connection.sessions.retain(|&own| own != session);
                Ok(vec![summary])
            }
            Request::Snapshot(session, directory) => Ok(vec![self.sessions.snapshot(session, &directory)?]),
            Request::Status => {
                let process = Record::default().with("pid", std::process::id()).with("refused", self.refused);
                Ok([vec![process], self.sessions.status()].concat())
            }
            Request::Metrics => Ok(figures(&self.sessions.status())),
            Request::Trace(_) => {
                Err("no function of it can be traced: give those that matter the attribute #[dyntrace::traced]"
                    .to_owned())
            }
            Request::Monitor(_) => Err("it cannot be monitored: its constructors have not run".to_owned()),
            Request::Code(_) => {
                Err("it loads no code: have it call dyntrace::code::allow(Policy::new().directory(...).remote(true))"
                    .to_owned())
            }
        }
    }
}

struct Ready {
    connections: Vec<bool>,
    listener: bool,
    /// The listener's. It may still have connections to accept.
    is_shut_down: bool,
}

/// Sends an answer. Returns whether all of it was sent. Does not wait for a client that does not read.
fn answer(stream: &UnixStream, answer: Result<Vec<Record>, String>) -> bool {
    send_all(stream, &encode(answer), SendFlags::DONTWAIT, || false)
}

#[cfg(test)]
mod tests;
