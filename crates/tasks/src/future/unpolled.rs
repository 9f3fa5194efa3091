//! Guards among the variables of a suspended coroutine: in structs, boxes and vectors, and in futures that the task does not poll.

use std::collections::HashSet;
use std::sync::Arc;

use super::collect::Goal;
use super::guards::is_guard;
use super::kinds::{is_future_object, is_owned, is_trait_object, list};
use super::value::Value;
use super::walk::Walk;
use super::{limits, names};
use crate::dwarf::Shape;
use crate::leaf;
use crate::listing::{Guard, Unpolled};

impl Walk<'_, '_> {
    /// Adds the guards among variables, after the futures that are polled were seen. A guard or future that was dropped by `drop` may
    /// still stand there. Variables whose name shadows another one are missing: rustc 1.95 describes only the first of a name.
    pub(super) fn held_by(&self, variables: &Value, holds: &mut Vec<Guard>) {
        let mut seen = HashSet::new();
        for member in variables.kind.members.iter().filter(|member| member.name != "__awaitee") {
            // debug information may describe a variable twice
            if !seen.insert((&member.name, member.offset)) || !self.contains(member.kind, Goal::Guards) {
                continue;
            }
            let Some(value) = self.steady.member(variables, member) else { continue };
            let found = self.copies.aside(|| {
                let mut search = Search { walk: self, variable: &member.name, found: Vec::new() };
                search.value(&value, None, 0);
                search.found
            });
            holds.extend(found.into_iter().flatten());
        }
    }
}

/// A search through one variable.
struct Search<'s, 't> {
    walk: &'s Walk<'s, 't>,
    variable: &'s str,
    found: Vec<Guard>,
}

impl Search<'_, '_> {
    /// Adds the guards of a value. `within`: the future around it, if it lies in one.
    fn value(&mut self, value: &Value, within: Option<&Unpolled>, depth: u32) {
        let (walk, kind) = (self.walk, &*value.kind);
        if depth > limits::DEPTH || walk.held_left.get() == 0 || !walk.contains(kind.id, Goal::Guards) {
            return;
        }
        walk.held_left.set(walk.held_left.get() - 1);
        if is_guard(kind) {
            self.guard(value, within);
        } else if kind.is_coroutine() {
            self.coroutine(value, within, depth);
        } else if leaf::is_set(kind) {
            if walk.sees(value.address, kind.id) {
                // if the set changes meanwhile, the copies differ, and its futures stay out of the answer
                leaf::each_of_set(walk, value, &mut |_, _, future| {
                    self.value(future, within, depth + 1);
                    (walk.held_left.get() > 0).then_some(())
                });
            }
        } else if is_trait_object(kind) {
            if is_future_object(kind, true)
                && let Some(inner) = walk.behind(value)
            {
                self.value(&inner, within, depth + 1);
            }
        } else if let Some((element, begin, length)) = list(&walk.steady, value) {
            self.elements(element, begin, length, within, depth);
        } else if let Shape::Pointer(_) = kind.shape {
            if is_owned(&kind.name)
                && let Some(target) = walk.target(value)
            {
                self.value(&target, within, depth + 1);
            }
        } else if kind.variants.is_some() {
            if let Some((_, variant)) = walk.steady.variant(value) {
                self.value(&variant, within, depth + 1);
            }
        } else {
            self.members(value, within, depth);
        }
    }

    fn members(&mut self, value: &Value, within: Option<&Unpolled>, depth: u32) {
        // of a union only `MaybeUninit`'s value is known to be one
        let wanted = |name: &str| value.kind.shape != Shape::Union || name == "value";
        for member in value.kind.members.iter().filter(|member| wanted(&member.name)) {
            if let Some(inner) = self.walk.steady.member(value, member) {
                self.value(&inner, within, depth + 1);
            }
        }
    }

    fn elements(
        &mut self,
        element: crate::dwarf::TypeId,
        begin: u64,
        length: u64,
        within: Option<&Unpolled>,
        depth: u32,
    ) {
        let size = self.walk.reader.types.get(element).size;
        // the task may poll the elements that the walk has left out
        if size == 0 || !self.walk.sees(begin, element) {
            return;
        }
        for number in 0..length.min(u64::from(self.walk.held_left.get())) {
            let Some(address) = size.checked_mul(number).and_then(|offset| begin.checked_add(offset)) else { return };
            self.value(&self.walk.held(self.walk.steady.at(element, address)), within, depth + 1);
        }
    }

    /// Looks through the variables of a coroutine that the task does not poll.
    fn coroutine(&mut self, value: &Value, within: Option<&Unpolled>, depth: u32) {
        let walk = self.walk;
        let Some(variant) = walk.steady.variant_of(value) else { return };
        let Some(member) = variant.member() else { return };
        if walk.is_cut() || !variant.as_str().starts_with("Suspend") || !walk.sees(value.address, value.kind.id) {
            return;
        }
        let Some(variables) = walk.steady.member(value, member) else { return };
        let own = || Unpolled {
            future: names::of(walk.reader.types, &value.kind),
            place: walk.place(value, member, &variables),
            granted: false,
        };
        let within = within.cloned().unwrap_or_else(own);
        self.members(&variables, Some(&within), depth);
    }

    fn guard(&mut self, value: &Value, within: Option<&Unpolled>) {
        let Some(held) = self.walk.permits(value) else { return };
        let guard: Arc<str> = names::of(self.walk.reader.types, &value.kind);
        let own = || held.granted.then(|| Unpolled { future: guard.clone(), place: None, granted: true });
        let unpolled = within.map(|within| Unpolled { granted: held.granted, ..within.clone() }).or_else(own);
        let (address, variable) = (value.address, self.variable.to_owned());
        self.found.push(Guard { address, variable, guard, semaphore: held.semaphore, taken: held.taken, unpolled });
    }
}
