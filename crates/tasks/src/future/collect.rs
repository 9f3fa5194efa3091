//! Futures inside values that are none themselves: tuples, enums, boxes, slices, closures.

use std::collections::HashSet;

use super::guards::is_guard;
use super::kinds::{
    is_boxed_object, is_future_object, is_owned, is_select, is_shared, is_trait_object, list, slice_of, vec_of,
};
use super::limits;
use super::value::Value;
use super::walk::{Frame, Walk};
use crate::dwarf::{Shape, Type, TypeId};
use crate::leaf;
use crate::listing::Await;

/// The aim of a search through types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    /// Futures that a value owns, or has borrowed alone.
    Owned,
    /// Also those behind shared references.
    Referenced,
    /// Guards, and futures that may have some.
    Guards,
}

impl Goal {
    fn futures(references: bool) -> Goal {
        if references { Goal::Referenced } else { Goal::Owned }
    }

    /// Says of a type whether it is one that is looked for, if its parts do not matter.
    fn answer(self, kind: &Type) -> Option<bool> {
        match self {
            _ if kind.is_coroutine() => Some(true),
            Goal::Guards if is_guard(kind) => Some(true),
            Goal::Guards => (leaf::of(kind, true).is_some() && !leaf::has_futures(kind)).then_some(false),
            _ if is_select(kind) || leaf::of(kind, self == Goal::Referenced).is_some() => Some(true),
            // a stream or channel that this future need not poll
            _ => leaf::of(kind, true).map(|_| false),
        }
    }
}

impl Walk<'_, '_> {
    /// Adds the futures inside a value to `shown`. `references`: also those behind shared references.
    pub fn collect(&self, value: &Value, frame: Option<&Frame<'_>>, references: bool, depth: u32, shown: &mut Await) {
        if depth > limits::DEPTH || !self.spend() || !self.contains(value.kind.id, Goal::futures(references)) {
            return;
        }
        let kind = &*value.kind;
        if kind.is_coroutine() || leaf::of(kind, references).is_some() {
            if !self.ran() && leaf::is_quiet(self, value) {
                return;
            }
            shown.add(self.future(value, frame, depth + 1));
        } else if leaf::of(kind, true).is_some() {
            // a stream or channel that this future need not poll
        } else if is_trait_object(kind) {
            if is_future_object(kind, references) {
                shown.add(self.future(value, frame, depth + 1));
            }
        } else {
            self.inside(value, frame, references, depth, shown);
        }
    }

    pub(super) fn inside(
        &self,
        value: &Value,
        frame: Option<&Frame<'_>>,
        references: bool,
        depth: u32,
        shown: &mut Await,
    ) {
        let values = &self.steady;
        let kind = &*value.kind;
        // of a task that runs, only fields that are always there can be trusted
        if depth > limits::DEPTH || self.ran() && (kind.shape != Shape::Struct || kind.variants.is_some()) {
            return;
        }
        if let Some((element, begin, length)) = list(values, value) {
            self.elements(element, begin, length, frame, references, depth, shown);
            return;
        }
        match kind.shape {
            Shape::Pointer(_) => {
                if let Some(target) = self.target(value) {
                    self.collect(&target, frame, references, depth + 1, shown);
                }
            }
            _ if kind.variants.is_some() => {
                if let Some((_, variant)) = values.variant(value) {
                    self.collect(&variant, frame, references, depth + 1, shown);
                }
            }
            _ if self.select(value, frame, depth, shown).is_some() => {}
            shape => {
                // of a union only `MaybeUninit`'s value is known to be one
                let wanted = |name: &str| shape != Shape::Union || name == "value";
                for member in kind.members.iter().filter(|member| wanted(&member.name)) {
                    if let Some(inner) = values.member(value, member) {
                        self.collect(&inner, frame, references, depth + 1, shown);
                    }
                }
            }
        }
    }

    /// Adds the branches of a `select!` that it still polls: those whose condition held, and that have not ended. `None` if the
    /// value is not its closure.
    fn select(&self, closure: &Value, frame: Option<&Frame<'_>>, depth: u32, shown: &mut Await) -> Option<()> {
        let values = &self.steady;
        if !is_select(&closure.kind) {
            return None;
        }
        let disabled = values.number(&values.follow(closure, &["_ref__disabled", "*"])?)?;
        let mut branches = values.follow(closure, &["_ref__futures", "*"])?;
        // the macro borrows its tuple once more
        if let Shape::Pointer(_) = branches.kind.shape {
            branches = values.target(&branches)?;
        }
        for (number, member) in branches.kind.members.iter().enumerate() {
            let polled = u32::try_from(number)
                .ok()
                .and_then(|number| disabled.checked_shr(number))
                .is_some_and(|bits| bits & 1 == 0);
            if polled && let Some(branch) = values.member(&branches, member) {
                shown.add(self.future(&branch, frame, depth + 1));
            }
        }
        Some(())
    }

    #[allow(clippy::too_many_arguments)] // the last four are handed on
    fn elements(
        &self,
        element: TypeId,
        begin: u64,
        count: u64,
        frame: Option<&Frame<'_>>,
        references: bool,
        depth: u32,
        shown: &mut Await,
    ) {
        if !self.contains(element, Goal::futures(references)) {
            return;
        }
        self.sees(begin, element);
        let size = self.reader.types.get(element).size;
        for number in 0..count.min(limits::ELEMENTS) {
            let Some(address) = size.checked_mul(number).and_then(|offset| begin.checked_add(offset)) else { return };
            self.collect(&self.steady.at(element, address), frame, references, depth + 1, shown);
        }
        shown.more = shown.more.saturating_add(count.saturating_sub(limits::ELEMENTS));
    }

    pub(super) fn contains(&self, kind: TypeId, goal: Goal) -> bool {
        self.reader.types.contains[goal as usize].get(kind, || self.search(kind, goal, 0, &mut HashSet::new()))
    }

    fn search(&self, kind: TypeId, goal: Goal, depth: u32, seen: &mut HashSet<TypeId>) -> bool {
        if depth > limits::DEPTH || seen.len() >= limits::TYPES || !seen.insert(kind) {
            return false;
        }
        if self.reader.types.contains[goal as usize].known(kind) == Some(true) {
            return true;
        }
        let types = self.reader.types;
        let kind = types.get(kind);
        if let Some(answer) = goal.answer(&kind) {
            return answer;
        }
        match kind.shape {
            _ if is_boxed_object(&kind, types) => true,
            // `Fut`, the type of its futures
            _ if leaf::is_set(&kind) => {
                kind.parameters.iter().any(|(_, future)| self.search(*future, goal, depth + 1, seen))
            }
            _ if is_shared(&kind) => false,
            _ if is_trait_object(&kind) => is_future_object(&kind, goal != Goal::Owned),
            Shape::Pointer(Some(target)) => {
                let followed = is_owned(&kind.name) || goal == Goal::Referenced && kind.name.starts_with('&');
                followed && self.search(target, goal, depth + 1, seen)
            }
            Shape::Array { element, count } => count > 0 && self.search(element, goal, depth + 1, seen),
            Shape::Struct | Shape::Union => {
                if let Some(element) = vec_of(&kind) {
                    return self.search(element, goal, depth + 1, seen);
                }
                if let Some(element) = slice_of(&kind, types) {
                    return is_owned(&kind.name) && self.search(element, goal, depth + 1, seen);
                }
                let variants = kind.variants.iter().flat_map(|variants| variants.list.iter().map(|(_, member)| member));
                kind.members.iter().chain(variants).any(|member| self.search(member.kind, goal, depth + 1, seen))
            }
            _ => false,
        }
    }
}
