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
