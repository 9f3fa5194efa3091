//! From a task's vtable to the types of its future and its scheduler.

use super::description::TypeId;
use super::types::Types;

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

    /// Returns the names of `polled`, the task types at an address. Without any, returns the futures that the poll functions there
    /// have in their own names: `debug = 1` says no more.
    #[must_use]
    pub fn polled_names(&self, poll: u64, polled: &[PolledTask]) -> Vec<String> {
        if !polled.is_empty() {
            return polled.iter().map(|one| one.name.clone()).collect();
        }
        let functions = self.functions_at(poll).filter_map(|offset| self.function(offset));
        let mut names: Vec<String> = functions
            .filter_map(|function| Some(first_parameter(function.name.strip_prefix("poll<")?)?.to_owned()))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
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

/// Returns the first of two parameters or more, given the text behind the bracket that opens their list.
fn first_parameter(parameters: &str) -> Option<&str> {
    let mut depth = 0_usize;
    for (index, c) in parameters.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            // not the end of an arrow
            '>' if !parameters[..index].ends_with('-') => depth = depth.checked_sub(1)?,
            ')' | ']' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => return Some(&parameters[..index]),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::first_parameter;

    #[test]
    fn the_first_parameter_ends_at_its_own_comma() {
        assert_eq!(
            first_parameter("app::run::{async_fn_env#0}<A, B>, Arc<Handle>>"),
            Some("app::run::{async_fn_env#0}<A, B>")
        );
        assert_eq!(first_parameter("Map<fn(A, B) -> C, [D; 2]>, S>"), Some("Map<fn(A, B) -> C, [D; 2]>"));
        assert_eq!(first_parameter("T>"), None);
        assert_eq!(first_parameter(""), None);
    }
}
