//! Where tokio's structures have the words that the reader needs: those of the versions that are known, or those that types describe.

use crate::cell::HeaderLayout;

/// How a program's tokio differs from the versions that are known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Other {
    /// Whether types describe another layout, by which the program is read.
    pub by_types: bool,
    /// Assumptions about the layout that do not hold: parts of a sentence.
    pub gaps: Vec<String>,
}

impl Other {
    /// Returns the difference, for a reader that needs the known layout: a part of a sentence. `None` if there is none.
    #[must_use]
    pub fn told(&self) -> Option<String> {
        let by_types = self.by_types.then(|| "the types of its tokio have another layout".to_owned());
        by_types.or_else(|| self.gaps.first().cloned())
    }
}

/// Of the structures of one version of tokio.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskLayout {
    /// Of a task's header.
    pub header: HeaderLayout,
    /// Of its vtable.
    pub vtable: VtableLayout,
    /// From a task's trailer to the links of the runtime's list: the previous task, then the next one.
    pub links: u64,
}

/// Where a vtable has its words, in bytes from its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VtableLayout {
    /// All functions.
    pub functions: Vec<u64>,
    /// The function that polls.
    pub poll: u64,
    /// The function that schedules.
    pub schedule: u64,
    /// The function that frees.
    pub dealloc: u64,
    /// The offset of the trailer.
    pub trailer: u64,
    /// The offset of the scheduler.
    pub scheduler: u64,
    /// The offset of the id.
    pub id: u64,
    /// The offset of the place that spawned the task, which only `tokio_unstable` has.
    pub spawn_location: u64,
}

/// That of all versions of tokio that are known.
impl Default for VtableLayout {
    fn default() -> VtableLayout {
        VtableLayout {
            functions: (0..7).map(|word| word * 8).collect(),
            poll: 0,
            schedule: 8,
            dealloc: 0x10,
            trailer: 0x38,
            scheduler: 0x40,
            id: 0x48,
            spawn_location: 0x50,
        }
    }
}

impl VtableLayout {
    /// Returns its bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        let VtableLayout { functions, trailer, scheduler, id, spawn_location, .. } = self;
        let words = [*trailer, *scheduler, *id, *spawn_location];
        functions.iter().copied().chain(words).max().unwrap_or(0).saturating_add(8)
    }
}
