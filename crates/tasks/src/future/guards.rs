//! Lock guards and permits among the variables of a suspended coroutine.

use std::collections::HashSet;

use super::value::Value;
use super::walk::Walk;
use super::{limits, names};
use crate::dwarf::{Shape, TypeId};
use crate::listing::Guard;

/// Guards by path without parameters; the steps to the semaphore; the field that counts permits, if the guard may have none.
#[rustfmt::skip]
const GUARDS: &[(&str, &[&str], Option<&str>)] = &[
    ("tokio::sync::mutex::MutexGuard", &["lock", "*", "s"], None),
    ("tokio::sync::mutex::OwnedMutexGuard", &["lock", "arc", "s"], None),
    ("tokio::sync::mutex::MappedMutexGuard", &["s", "*"], None),
    ("tokio::sync::mutex::OwnedMappedMutexGuard", &["lock", "arc", "s"], None),
    ("tokio::sync::rwlock::read_guard::RwLockReadGuard", &["s", "*"], None),
    ("tokio::sync::rwlock::write_guard::RwLockWriteGuard", &["s", "*"], None),
    ("tokio::sync::rwlock::write_guard_mapped::RwLockMappedWriteGuard", &["s", "*"], None),
    ("tokio::sync::rwlock::owned_read_guard::OwnedRwLockReadGuard", &["lock", "arc", "s"], None),
    ("tokio::sync::rwlock::owned_write_guard::OwnedRwLockWriteGuard", &["lock", "arc", "s"], None),
    ("tokio::sync::rwlock::owned_write_guard_mapped::OwnedRwLockMappedWriteGuard", &["lock", "arc", "s"], None),
    ("tokio::sync::semaphore::SemaphorePermit", &["sem", "*", "ll_sem"], Some("permits")),
    ("tokio::sync::semaphore::OwnedSemaphorePermit", &["sem", "arc", "ll_sem"], Some("permits")),
    ("tokio::sync::mpsc::bounded::Permit", &["chan", "*", "inner", "arc", "semaphore", "semaphore"], None),
    ("tokio::sync::mpsc::bounded::OwnedPermit", &["chan", "?", "inner", "arc", "semaphore", "semaphore"], None),
];

impl Walk<'_, '_> {
    /// Adds the guards among the variables of a coroutine, or the fields of another future. A guard that was dropped by `drop` may still stand there. Guards behind
    /// pointers are missing, and guards whose name shadows another variable: rustc 1.95 describes only the first variable of
    /// a name.
    pub(super) fn guards_of(&self, variables: &Value, holds: &mut Vec<Guard>) {
        let mut seen = HashSet::new();
        let mut left = limits::VALUES;
        for member in variables.kind.members.iter().filter(|member| member.name != "__awaitee") {
            // debug information may describe a variable twice
            if !seen.insert((&member.name, member.offset)) {
                continue;
            }
            if let Some(value) = self.steady.member(variables, member) {
                self.guards(&value, &member.name, holds, 0, &mut left);
            }
        }
    }

    /// Whether a value of this type may contain a guard that [`Self::guards`] finds.
    fn contains_guard(&self, kind: TypeId, depth: u32) -> bool {
        let types = self.reader.types;
        types.contains_guard.get(kind, || {
            let kind = types.get(kind);
            if kind.is_coroutine() || kind.shape != Shape::Struct {
                return false;
            }
            let variants = kind.variants.iter().flat_map(|variants| variants.list.iter().map(|(_, member)| member));
            let mut members = kind.members.iter().chain(variants);
            // beyond the limit a damaged type contains itself
            depth <= limits::STRUCTS
                && (GUARDS.iter().any(|(path, ..)| *path == kind.bare())
                    || members.any(|member| self.contains_guard(member.kind, depth + 1)))
        })
    }

    fn guards(&self, value: &Value, variable: &str, holds: &mut Vec<Guard>, depth: u32, left: &mut u32) {
        let kind = &*value.kind;
        if depth > limits::STRUCTS || *left == 0 || !self.contains_guard(kind.id, 0) {
            return;
        }
        *left -= 1;
        let bare = kind.bare();
        if let Some((_, steps, permits)) = GUARDS.iter().find(|(path, ..)| *path == bare) {
            let some = permits.is_none_or(|name| {
                let permits = self.steady.field(value, name).and_then(|permits| self.steady.number(&permits));
                permits.is_some_and(|permits| permits > 0)
            });
            if some && let Some(semaphore) = self.steady.follow(value, steps) {
                let guard = names::of(self.reader.types, kind);
                holds.push(Guard { variable: variable.to_owned(), guard, semaphore: semaphore.address });
            }
        } else if kind.variants.is_some() {
            if let Some((_, variant)) = self.steady.variant(value) {
                self.guards(&variant, variable, holds, depth + 1, left);
            }
        } else {
            for member in &kind.members {
                if let Some(inner) = self.steady.member(value, member) {
                    self.guards(&inner, variable, holds, depth + 1, left);
                }
            }
        }
    }
}
