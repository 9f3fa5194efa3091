//! `JoinSet`: the tasks in its lists.

use std::collections::HashSet;

use super::Site;
use crate::future::{Value, limits};
use crate::listing::Await;

/// From the set to its lists: through tokio's mutex over the standard library's, and over `parking_lot`'s.
const LISTS: &[&[&str]] = &[
    &["inner", "lists", "arc", "__0", "data", "value"],
    &["inner", "lists", "arc", "__0", "data"],
    &["inner", "lists", "arc", "__1", "data", "value"],
    &["inner", "lists", "arc", "data", "value"],
];

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    let steady = &site.walk.steady;
    let lists = LISTS.iter().filter_map(|steps| steady.follow(site.value, steps));
    let lists = lists.into_iter().find(|lists| lists.kind.member("idle").is_some())?;
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
