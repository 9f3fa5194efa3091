//! Where a runtime keeps the number of its tasks.

use crate::memory::{Memory, Unreadable};

use super::description::{Shape, TypeId};
use super::types::Types;

/// The way from a task's `Core` to the count of its runtime's tasks: the word at `count + word(core + handle)`. `scheduler` is
/// the first field of `Core`, so `Core` begins where a task's vtable says that the scheduler is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountPath {
    /// From the beginning of `Core` to the pointer to the scheduler's handle, in bytes.
    pub handle: u64,
    /// From the beginning of the pointed-to value to the count, in bytes.
    pub count: u64,
}

impl CountPath {
    /// Reads the count. `core` is the address of a task's `Core`.
    ///
    /// # Errors
    ///
    /// If memory cannot be read.
    pub fn read(&self, memory: &dyn Memory, core: u64) -> Result<u64, Unreadable> {
        let handle = memory.word(core.wrapping_add(self.handle))?;
        memory.word(handle.wrapping_add(self.count))
    }
}

/// Fields from the scheduler's handle to its list of tasks: of runtimes, and of `LocalRuntime` or older versions.
const OWNED: &[&[&str]] = &[&["shared", "owned"], &["local_state", "owned"]];

impl Types<'_> {
    /// Returns where the runtime of a task with this `Core` counts its tasks: `OwnedTasks.list.count`.
    ///
    /// `None` if a field on the way has another name, and for tasks of a `LocalSet` and of the blocking pool.
    #[must_use]
    pub fn runtime_count(&self, core: TypeId) -> Option<CountPath> {
        let (scheduler, at) = self.field(core, &["scheduler"])?;
        let (pointer, within) = self.field(scheduler, &["ptr", "pointer"])?;
        let Shape::Pointer(Some(inner)) = self.get(pointer).shape else { return None };
        let (handle, data) = self.field(inner, &["data"])?;
        let (owned, list) = OWNED.iter().find_map(|names| self.field(handle, names))?;
        let (count, last) = self.field(owned, &["list", "count"])?;
        (self.get(count).size == 8).then_some(CountPath { handle: at + within, count: data + list + last })
    }

    /// Returns the offset of `Core.scheduler`, to which a vtable's scheduler offset leads.
    pub(crate) fn scheduler_in_core(&self, core: TypeId) -> Option<u64> {
        self.field(core, &["scheduler"]).map(|(_, offset)| offset)
    }

    /// Whether a variant of `Core.stage` has the future: a task's future is read there, whatever name the variant has.
    pub(crate) fn has_stage(&self, core: TypeId, future: TypeId) -> bool {
        let mut stage = self.field(core, &["stage"]).map(|(stage, _)| self.get(stage));
        for _ in 0..8 {
            let Some(kind) = stage else { break };
            if let Some(variants) = &kind.variants {
                let first = |kind| self.get(kind).members.first().map(|member| member.kind);
                return variants
                    .list
                    .iter()
                    .filter_map(|(_, member)| first(member.kind))
                    .any(|kind| self.are_same(kind, future));
            }
            stage = kind.members.first().map(|member| self.get(member.kind));
        }
        false
    }

    /// Whether two descriptions, perhaps in different units, are of one type.
    pub(crate) fn are_same(&self, one: TypeId, other: TypeId) -> bool {
        one == other || {
            let one = self.get(one);
            !one.path.is_empty() && one.path == self.get(other).path
        }
    }

    /// Follows fields that lie in each other. Returns the last one's type and its offset.
    fn field(&self, from: TypeId, names: &[&str]) -> Option<(TypeId, u64)> {
        names.iter().try_fold((from, 0u64), |(kind, offset), name| {
            let kind = self.get(kind);
            let member = kind.member(name)?;
            Some((member.kind, offset.checked_add(member.offset)?))
        })
    }
}
