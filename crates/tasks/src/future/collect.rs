//! Futures inside values that are none themselves: tuples, enums, boxes, slices, closures.

use std::collections::HashSet;

use super::guards::is_guard;
use super::limits;
use super::value::{Value, Values};
use super::walk::{Frame, Walk, is_trait_object};
use crate::dwarf::{Member, Shape, Type, TypeId, Types};
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

/// Returns the element type, the first element's address and the length of a `Vec`, a slice behind a pointer, or an array.
pub(crate) fn list(values: &Values<'_, '_>, value: &Value) -> Option<(TypeId, u64, u64)> {
    let number = |steps: &[&str]| values.follow(value, steps).and_then(|value| values.number(&value));
    if let Shape::Array { element, count } = value.kind.shape {
        return Some((element, value.address, count));
    }
    if let Some(element) = vec_of(&value.kind) {
        let begin = number(&["buf", "inner", "ptr", "pointer", "pointer"])?;
        return Some((element, begin, number(&["len", "only"])?));
    }
    let element = slice_of(&value.kind, values.types)?;
    Some((element, number(&["data_ptr"])?, number(&["length"])?))
}

/// Whether a type is the closure of a `select!`.
pub(crate) fn is_select(kind: &Type) -> bool {
    kind.name.starts_with("{closure_env") && kind.member("_ref__disabled").is_some()
}

/// Pointers through which a future polls futures that it owns or has borrowed alone.
pub(crate) fn is_owned(name: &str) -> bool {
    name.starts_with("alloc::boxed::Box<") || name.starts_with("Box<") || name.starts_with("&mut ")
}

/// Pointers to shared values: others may poll these.
fn is_shared(kind: &Type) -> bool {
    let bare = kind.bare();
    [
        "core::task::wake::",
        "alloc::sync::",
        "alloc::rc::",
        "core::ptr::non_null::",
        "core::marker::",
        "core::sync::atomic",
    ]
    .iter()
    .any(|prefix| bare.starts_with(prefix))
}

/// Whether a trait object is a future. `polled`: or a stream or body.
pub(crate) fn is_future_object(kind: &Type, polled: bool) -> bool {
    names_future(&kind.name, polled)
}

fn names_future(pointer: &str, polled: bool) -> bool {
    let object = pointer.split_once("dyn ").and_then(|(_, object)| object.split_once('<'));
    let path = object.map_or("", |(object, _)| object);
    let name = path.rsplit("::").next().unwrap_or(path);
    // a trait of hyper's whose objects are futures
    name == "Future" || path == "hyper::rt::timer::Sleep" || polled && matches!(name, "Stream" | "Body")
}

/// Whether a `NonNull` points to a future that only it can poll: tokio's reusable box.
fn is_boxed_object(kind: &Type, types: &Types<'_>) -> bool {
    let object = |member: &Member| {
        let object = types.get(member.kind);
        is_trait_object(&object) && is_future_object(&object, false)
    };
    kind.bare() == "core::ptr::non_null::NonNull" && kind.member("pointer").is_some_and(object)
}

/// Returns the element type of a `Vec`.
fn vec_of(kind: &Type) -> Option<TypeId> {
    let element = kind.parameters.iter().find(|(name, _)| name == "T");
    (kind.bare() == "alloc::vec::Vec").then_some(element?.1)
}

/// Returns the element type of a pointer to a slice.
fn slice_of(kind: &Type, types: &Types<'_>) -> Option<TypeId> {
    if kind.members.len() != 2 || kind.member("length").is_none() {
        return None;
    }
    match types.get(kind.member("data_ptr")?.kind).shape {
        Shape::Pointer(target) => target,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::names_future;

    #[test]
    fn a_trait_object_is_a_future_by_its_trait() {
        let boxed =
            |object: &str| format!("alloc::boxed::Box<(dyn {object} + core::marker::Send), alloc::alloc::Global>");
        assert!(names_future(&boxed("core::future::future::Future<Output=()>"), false));
        assert!(names_future(&boxed("hyper::rt::timer::Sleep<Output=()>"), false));
        assert!(!names_future(&boxed("app::Sleep<Output=()>"), false));
        assert!(!names_future(&boxed("app::Serve<Answer=(dyn core::future::future::Future<Output=()>)>"), false));
        assert!(!names_future(&boxed("futures_core::stream::Stream<Item=u32>"), false));
        assert!(names_future(&boxed("futures_core::stream::Stream<Item=u32>"), true));
    }
}
