//! `tracing`: an event is a line of text, formatted by the thread, written by another.

use crate::payload::{Entry, Fire};

pub struct Lines;

impl Fire for Lines {
    #[inline(always)]
    fn one(value: i64) {
        tracing::info!(value);
    }

    #[inline(always)]
    fn entry(entry: &Entry<'_>) {
        let &Entry { thread_id, tag, user_tag, command, s1, s2, i1, i2, i3, i4, port } = entry;
        tracing::info!(thread_id, tag, user_tag, command, s1, s2, i1, i2, i3, i4, port);
    }
}
