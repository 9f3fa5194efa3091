//! Who holds up a wait, and for how long.

use std::fmt;
use std::time::Duration;

use super::os;

/// Who holds up a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Late {
    /// Those that were pinned all the time, until they were looked at last. None, if the system refuses the barrier that it promised.
    pub(crate) threads: Vec<Pinned>,
    /// How long they have been waited for; they have been pinned at least as long.
    pub(crate) waited: Duration,
}

/// The same, before anybody has asked for names: that takes a while.
pub(super) struct Held {
    pub(super) threads: Vec<u32>,
    pub(super) waited: Duration,
}

impl Late {
    /// The current thread is pinned and would wait for itself.
    pub(super) fn own() -> Late {
        Held { threads: vec![os::thread_id()], waited: Duration::ZERO }.named()
    }
}

impl Held {
    pub(super) fn named(self) -> Late {
        let pinned = |thread| Pinned { thread, name: os::thread_name(thread) };
        Late { threads: self.threads.into_iter().map(pinned).collect(), waited: self.waited }
    }
}

/// A thread, by the operating system's id, and the name that it has there; empty where that cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pinned {
    pub(crate) thread: u32,
    pub(crate) name: String,
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.waited.as_secs_f64();
        if self.threads.is_empty() {
            return write!(f, "the system has refused a barrier in every thread for {seconds:.3} s");
        }
        f.write_str("still inside: ")?;
        for pinned in &self.threads {
            write!(f, "{pinned}, ")?;
        }
        write!(f, "for {seconds:.3} s or longer")
    }
}

impl fmt::Display for Pinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pinned { thread, name } = self;
        if name.is_empty() { write!(f, "thread {thread}") } else { write!(f, "thread {thread} ({name})") }
    }
}
