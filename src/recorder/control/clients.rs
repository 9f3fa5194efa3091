//! For the server and for handlers of connections ([`extension`](super::extension)): a limit on clients, answers of any length, their
//! sending, and waits for a client.

use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::protocol::{Record, Reply, frame};

pub(crate) use dyntrace_probes::rings::closed_in_children::ClosedInChildren;

/// The bytes of records after which a new message begins.
const CHUNK: usize = 32 << 10;

/// The longest single wait for a client. poll(2) takes no time of centuries.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// A limit on the clients of a handler.
pub(crate) struct ClientLimit {
    most: usize,
    clients: AtomicUsize,
}

/// The permit to serve one client. Released when dropped.
pub(crate) struct ClientPermit(&'static ClientLimit);

impl ClientLimit {
    pub(crate) const fn new(most: usize) -> ClientLimit {
        ClientLimit { most, clients: AtomicUsize::new(0) }
    }

    /// Returns `None` if `most` permits are in use.
    pub(crate) fn acquire(&'static self) -> Option<ClientPermit> {
        let more = |clients| (clients < self.most).then_some(clients + 1);
        self.clients.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok().map(|_| ClientPermit(self))
    }
}

impl Drop for ClientPermit {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Splits records into messages, at least one.
pub(crate) fn messages(records: impl IntoIterator<Item = Record>) -> Vec<Vec<Record>> {
    let mut messages = vec![Vec::new()];
    let mut bytes = 0;
    for record in records {
        if bytes > CHUNK {
            messages.push(Vec::new());
            bytes = 0;
        }
        bytes += record.to_string().len();
        messages.last_mut().expect("there is one from the beginning").push(record);
    }
    messages
}

/// Splits the records of an answer into messages. All but the last end with a record `more=1`.
pub(crate) fn parts(records: Vec<Record>) -> Vec<Vec<Record>> {
    let mut parts = messages(records);
    let last = parts.len() - 1;
    parts[..last].iter_mut().for_each(|part| part.push(Record::default().with("more", 1)));
    parts
}

/// Encodes a message. One that is too long becomes a refusal that says so.
pub(crate) fn encode(message: Result<Vec<Record>, String>) -> Vec<u8> {
    frame(&Reply(message).to_string()).unwrap_or_else(|error| {
        let refusal = Reply(Err(format!("the answer would be {error}")));
        frame(&refusal.to_string()).expect("a refusal of one line fits")
    })
}

/// Sends all bytes. Returns whether it did. `goes_on` is asked whenever the socket is full, and may wait.
pub(crate) fn send_all(stream: &UnixStream, mut rest: &[u8], flags: SendFlags, goes_on: impl Fn() -> bool) -> bool {
    while !rest.is_empty() {
        match send(stream, rest, SendFlags::NOSIGNAL | flags) {
            Ok(sent) => rest = &rest[sent..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if goes_on() => {}
            Err(_) => return false,
        }
    }
    true
}

/// Waits at most `time` for the client to close its side. Returns whether it is still connected. Any bytes from it count as the end.
pub(crate) fn stays(stream: &UnixStream, time: Duration) -> bool {
    let time = Timespec::try_from(time.min(LONGEST_WAIT)).ok();
    let mut descriptors = [PollFd::new(stream, PollFlags::IN)];
    match poll(&mut descriptors, time.as_ref()) {
        Ok(0) | Err(Errno::INTR) => true,
        Ok(_) => matches!(recv(stream, &mut [0; 1], RecvFlags::DONTWAIT), Err(Errno::AGAIN | Errno::INTR)),
        Err(_) => false,
    }
}

/// Sends a message. Returns whether all of it was sent.
pub(crate) fn say(stream: &UnixStream, message: Result<Vec<Record>, String>) -> bool {
    send_all(stream, &encode(message), SendFlags::empty(), || false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_has_closed_its_side_is_gone() {
        let (here, there) = UnixStream::pair().unwrap();
        assert!(stays(&here, Duration::ZERO));
        there.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(!stays(&here, LONGEST_WAIT));
        assert!(say(&here, Ok(Vec::new())), "its other side is open");
        drop(there);
        assert!(!say(&here, Ok(Vec::new())));
    }

    #[test]
    fn a_message_that_is_too_long_becomes_a_refusal() {
        let (mut client, server) = UnixStream::pair().unwrap();
        assert!(say(&server, Ok(vec![Record::default().with("text", "x".repeat(10 << 20))])));
        drop(server);
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut client, &mut answer).unwrap();
        assert!(answer.contains("error the answer would be"), "{answer}");
    }

    #[test]
    fn long_answers_come_in_parts() {
        let row = |number: usize| Record::default().with("module", number).with("file", "x".repeat(300));
        let records: Vec<Record> = (0..1000).map(row).collect();
        let mut parts = parts(records.clone());
        assert!(parts.len() > 3);
        let last = parts.len() - 1;
        for (number, part) in parts.iter_mut().enumerate() {
            assert!(frame(&Reply(Ok(part.clone())).to_string()).is_ok());
            if number < last {
                assert_eq!(part.pop().unwrap().number("more"), Some(1));
            }
        }
        assert_eq!(parts.concat(), records);
        assert_eq!(super::parts(Vec::new()), [[]]);
    }
}
