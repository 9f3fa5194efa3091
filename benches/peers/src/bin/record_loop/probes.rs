//! dyntrace: probes, recorded by a session of this process.

use std::path::Path;

use dyntrace::recorder::{Glob, Mode, Options, Session};

use crate::payload::{Entry, Fire};

mod provider {
    dyntrace::include_provider!("peers");
}

pub struct Probes;

/// Records the probes that match `pattern`, until the session is dropped.
pub fn start(directory: &Path, mode: Mode, size: Option<u64>, pattern: &str) -> Session {
    let mut options = Options::new(directory);
    options.mode = mode;
    options.size = size;
    options.probes = vec![Glob::from(pattern)];
    Session::start(options).unwrap_or_else(|error| panic!("{error}"))
}

impl Fire for Probes {
    #[inline(always)]
    fn one(value: i64) {
        provider::one(|| value);
    }

    #[inline(always)]
    fn entry(entry: &Entry<'_>) {
        let &Entry { thread_id, tag, user_tag, command, s1, s2, i1, i2, i3, i4, port } = entry;
        provider::entry(|| (thread_id, tag, user_tag, command, s1, s2, i1, i2, i3, i4, port));
    }
}
