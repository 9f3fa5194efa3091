//! What those share who serve connections of their own ([`door`](super::door)): how many at once, and answers of any length.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::protocol::Record;

/// How many bytes of records go into one message.
const CHUNK: usize = 32 << 10;

/// Room for so many clients at once.
pub(crate) struct Places {
    most: usize,
    taken: AtomicUsize,
}

/// One client's, until it is dropped.
pub(crate) struct Place(&'static Places);

impl Places {
    pub(crate) const fn new(most: usize) -> Places {
        Places { most, taken: AtomicUsize::new(0) }
    }

    pub(crate) fn take(&'static self) -> Option<Place> {
        let more = |taken| (taken < self.most).then_some(taken + 1);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok().map(|_| Place(self))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The records of each message, of which there is one at least.
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

/// The records of each message of an answer: the last record of each but the last says `more=1`.
pub(crate) fn parts(records: Vec<Record>) -> Vec<Vec<Record>> {
    let mut parts = messages(records);
    let last = parts.len() - 1;
    parts[..last].iter_mut().for_each(|part| part.push(Record::default().with("more", 1)));
    parts
}

#[cfg(test)]
mod tests {
    use super::super::protocol::{Reply, frame};
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
