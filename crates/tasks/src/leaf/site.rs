//! A place in memory at which a primitive stands, with ways from there to its numbers and addresses.

use crate::future::{Frame, Value, Values, Walk};
use crate::listing::{Await, WaitsFor};

/// A primitive in memory, and the coroutines around it.
pub(crate) struct Site<'s, 't> {
    pub walk: &'s Walk<'s, 't>,
    pub value: &'s Value,
    pub frame: Option<&'s Frame<'s>>,
    pub depth: u32,
}

/// From a mutex of tokio's to its value: over the standard library's mutex, and over `parking_lot`'s.
const MUTEXES: &[&[&str]] =
    &[&["__0", "data", "value"], &["__0", "data"], &["__1", "data", "value"], &["data", "value"]];

/// Returns the value in a mutex of tokio's, a struct with a certain field.
pub(super) fn in_mutex(values: &Values<'_, '_>, mutex: &Value, field: &str) -> Option<Value> {
    let found = MUTEXES.iter().filter_map(|steps| values.follow(mutex, steps));
    found.into_iter().find(|value| value.kind.member(field).is_some())
}

pub(super) fn waits(waits_for: WaitsFor) -> Await {
    Await { waits_for: Some(waits_for), ..Await::default() }
}

impl<'s> Site<'s, '_> {
    /// Returns the coroutines around the primitive, innermost first, as long as they are tokio's own.
    pub(super) fn within_tokio(&self) -> impl Iterator<Item = &'s Frame<'s>> {
        self.frames().take_while(|frame| frame.path.starts_with("tokio::"))
    }

    /// As [`within_tokio`](Site::within_tokio), and in the same shape those of dyntrace.
    pub(super) fn within_locks(&self) -> impl Iterator<Item = &'s Frame<'s>> {
        self.frames()
            .take_while(|frame| ["tokio::", "dyntrace_resources::sync::"].iter().any(|own| frame.path.starts_with(own)))
    }

    pub(super) fn frames(&self) -> impl Iterator<Item = &'s Frame<'s>> {
        std::iter::successors(self.frame, |frame| frame.outer)
    }

    /// Follows steps from the primitive to a number in the task's own memory.
    pub(super) fn number(&self, steps: &[&str]) -> Option<u64> {
        let steady = &self.walk.steady;
        steady.follow(self.value, steps).and_then(|value| steady.number(&value))
    }

    /// Follows steps from the primitive to an address.
    pub(super) fn address(&self, steps: &[&str]) -> Option<u64> {
        self.walk.steady.follow(self.value, steps).map(|value| value.address)
    }
}
