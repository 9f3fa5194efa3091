//! `tracing`: an event is a line of text, formatted by the thread, written by another.

use std::path::Path;

use tracing_appender::non_blocking;
use tracing_appender::non_blocking::WorkerGuard;

use crate::payload::{Entry, Fire};

pub struct Lines;

/// Sends all lines to a file in `directory`, until the guard goes.
pub fn start(directory: &Path) -> WorkerGuard {
    let (writer, guard) = non_blocking(tracing_appender::rolling::never(directory, "tracing.log"));
    tracing_subscriber::fmt().with_ansi(false).with_writer(writer).init();
    guard
}

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
