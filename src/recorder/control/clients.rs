//! For handlers of connections ([`extension`](super::extension)): a limit on clients, answers of any length, and their sending.

use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use super::protocol::{Record, Reply, frame};

/// The bytes of records after which a new message begins.
const CHUNK: usize = 32 << 10;

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

/// Sends a message. Returns whether all of it was sent.
pub(crate) fn say(stream: &UnixStream, message: Result<Vec<Record>, String>) -> bool {
    let Ok(message) = frame(&Reply(message).to_string()) else { return false };
    let mut rest = message.as_slice();
    while !rest.is_empty() {
        match send(stream, rest, SendFlags::NOSIGNAL) {
            Ok(sent) => rest = &rest[sent..],
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

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
