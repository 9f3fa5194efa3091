//! Who is inside of a version, or keeps it in use.

use std::fmt;

use super::Version;
use super::tables::{Tables, tables};

/// Who uses an old version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inside {
    /// Threads that run its code: the system's id, and the name that it has there.
    pub threads: Vec<(u32, String)>,
    /// How many futures and borrowed handles of it live.
    pub holds: usize,
}

/// Who is inside of the old version of a module. `None` if it has no old version.
///
/// A thread that enters the version at this moment, through what it has loaded before that was replaced, may be missing;
/// [`purge`](crate::code::purge) and [`soft_purge`](crate::code::soft_purge) miss none.
pub fn check(module: &str) -> Option<Inside> {
    of_old(tables(), module)
}

fn of_old(tables: &Tables, module: &str) -> Option<Inside> {
    let old = tables.look(|set| set.modules.get(module)?.old.clone())?;
    Some(Inside::of(&old))
}

impl Inside {
    /// Complete if nobody can enter any more. Who is there in the end keeps the order: first threads, then holds, since a hold is taken
    /// by who is inside.
    pub(crate) fn of(version: &Version) -> Inside {
        let pinned = version.place().users();
        let threads = pinned.into_iter().map(|pinned| (pinned.thread, pinned.name)).collect();
        Inside { threads, holds: version.holds() }
    }

    /// Whether nobody is.
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
