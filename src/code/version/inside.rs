//! The users of a version: threads inside it, and holds.

use std::fmt;

use super::Version;
use super::tables::{Tables, tables};

/// The users of an old version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inside {
    /// Threads that run its code: the system's thread id and name.
    pub threads: Vec<(u32, String)>,
    /// The number of its futures and borrowed handles that live.
    pub holds: usize,
}

/// Returns the users of a module's old version. `None` if it has no old version.
///
/// A thread that enters the version just now, because it loaded the address before the version was replaced, may be missing;
/// [`purge`](crate::code::purge) and [`soft_purge`](crate::code::soft_purge) miss none.
pub fn check(module: &str) -> Option<Inside> {
    of_old(tables(), module)
}

fn of_old(tables: &Tables, module: &str) -> Option<Inside> {
    let old = tables.look(|set| set.modules.get(module)?.old.clone())?;
    Some(Inside::of(&old))
}

impl Inside {
    /// Complete once no thread can enter. Threads are read before holds, because a thread inside may take a hold and leave.
    pub(crate) fn of(version: &Version) -> Inside {
        let pinned = version.place().users();
        let threads = pinned.into_iter().map(|pinned| (pinned.thread, pinned.name)).collect();
        Inside { threads, holds: version.holds() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.threads.is_empty() && self.holds == 0
    }
}

impl fmt::Display for Inside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inside { threads, holds } = self;
        if self.is_empty() {
            return f.write_str("nobody");
        }
        for (number, (thread, name)) in threads.iter().enumerate() {
            write!(f, "{}thread {thread} ({name})", if number == 0 { "" } else { ", " })?;
        }
        if *holds > 0 {
            write!(f, "{}{holds} futures or borrowed handles", if threads.is_empty() { "" } else { ", " })?;
        }
        Ok(())
    }
}
