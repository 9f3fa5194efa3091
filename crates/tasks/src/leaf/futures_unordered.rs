//! `FuturesUnordered`, which long `join_all`s use too.

use std::collections::HashSet;

use super::Site;
use crate::dwarf::Shape;
use crate::future::{Value, Walk, limits};
use crate::listing::Await;

pub(super) const PATH: &str = "futures_util::stream::futures_unordered::FuturesUnordered";

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    let mut shown = Await::default();
    each(site.walk, site.value, &mut |number, future| {
        if number < limits::ELEMENTS {
            site.walk.collect(future, site.frame, false, site.depth + 1, &mut shown);
        } else {
            shown.more += 1;
        }
        Some(())
    })?;
    Some(shown)
}

/// Calls `visit` with each future of a set and its number, until it returns `None`. Returns `None` then, or if the set cannot be read.
pub(crate) fn each(walk: &Walk<'_, '_>, set: &Value, visit: &mut dyn FnMut(u64, &Value) -> Option<()>) -> Option<()> {
    let steady = &walk.steady;
    let head = steady.follow(set, &["head_all", "only"])?;
    let Shape::Pointer(Some(node)) = head.kind.shape else { return None };
    let mut address = steady.number(&head)?;
    let mut seen = HashSet::new();
    while address != 0 {
        let number = seen.len() as u64;
        // a list that changes may lead in a circle
        if number >= limits::COUNTED || !seen.insert(address) {
            return None;
        }
        let node = walk.held(steady.at(node, address));
        visit(number, &steady.field(&node, "future")?)?;
        address = steady.number(&steady.follow(&node, &["next_all", "only"])?)?;
    }
    Some(())
}
