//! From a task's vtable to the types of its future and its scheduler.

use super::types::{TypeId, Types};

/// The type of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolledTask {
    /// The future's type: path and parameters, as rustc writes them.
    pub name: String,
    /// The future's type.
    pub future: TypeId,
    /// `tokio::runtime::task::core::Core` of future and scheduler; `None` if debug information does not describe it, or
    /// describes several of the same name and different sizes.
    pub core: Option<TypeId>,
}

impl Types<'_> {
    /// Returns the task types whose poll function (`poll` of a task's vtable) is at an address in the file.
    ///
    /// More than one if the linker merged the functions of several types. None if debug information lacks the function.
    #[must_use]
    pub fn polled(&self, poll: u64) -> Vec<PolledTask> {
        let mut found: Vec<PolledTask> = Vec::new();
        for offset in self.functions_at(poll) {
            let Some(function) = self.function(offset) else { continue };
            if !function.name.starts_with("poll") {
                continue;
            }
            let [(_, future), (_, scheduler)] = function.parameters[..] else { continue };
            let (future, scheduler) = (self.get(future), self.get(scheduler));
            if future.name.is_empty() || found.iter().any(|known| known.name == future.path) {
                continue;
            }
            let core = self.core(offset, &format!("Core<{}, {}>", future.path, scheduler.path));
            found.push(PolledTask { name: future.path.clone(), future: future.id, core });
        }
        found
    }

    /// Returns the type of a name like `Core<T, S>`, if possible from the unit of `near`.
    fn core(&self, near: usize, name: &str) -> Option<TypeId> {
        let unit = self.units.number_of(near);
        let same = || self.index.cores.iter().map(|core| TypeId(*core)).filter(|core| self.get(*core).name == name);
        if let Some(core) = same().find(|core| self.units.number_of(core.0) == unit) {
            return Some(core);
        }
        let first = same().next()?;
        same().all(|core| self.get(core).size == self.get(first).size).then_some(first)
    }
}
