//! `JoinSet`: the tasks in its lists.

use std::collections::HashSet;

use super::{Site, in_mutex};
use crate::future::{Value, limits};
use crate::listing::Await;

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    let steady = &site.walk.steady;
    let lists = in_mutex(steady, &steady.follow(site.value, &["inner", "lists", "arc"])?, "idle")?;
    let mut shown = Await::default();
    let mut seen = HashSet::new();
    for name in ["notified", "idle"] {
        let mut next = steady.follow(&lists, &[name, "head"])?;
        while let Some(entry) = entry(site, &next)? {
            if seen.len() as u64 >= limits::COUNTED || !seen.insert(entry.address) {
                return None;
            }
            if seen.len() as u64 <= limits::ELEMENTS {
                site.walk.collect(&steady.field(&entry, "value")?, site.frame, false, site.depth + 1, &mut shown);
            } else {
                shown.more += 1;
            }
            next = steady.follow(&entry, &["pointers", "inner", "value", "next"])?;
        }
    }
    Some(shown)
}

/// Returns the entry that an `Option<NonNull<_>>` points to; `Some(None)` at the end of a list.
fn entry(site: &Site<'_, '_>, next: &Value) -> Option<Option<Value>> {
    let steady = &site.walk.steady;
    match steady.variant(next)?.0.as_str() {
        "None" => Some(None),
        _ => Some(Some(steady.follow(next, &["?", "pointer", "*"])?)),
    }
}
