//! The name of a thread that delays a wait.

use std::fmt;

use super::os;

/// A thread: the operating system's id, and the name, which is empty on systems that do not tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned {
    pub thread: u32,
    pub name: String,
}

impl Pinned {
    pub(super) fn new(thread: u32) -> Pinned {
        Pinned { thread, name: os::thread_name(thread) }
    }
}

impl fmt::Display for Pinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pinned { thread, name } = self;
        if name.is_empty() { write!(f, "thread {thread}") } else { write!(f, "thread {thread} ({name})") }
    }
}
