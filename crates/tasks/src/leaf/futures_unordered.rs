//! `FuturesUnordered`, which long `join_all`s use too.

use std::collections::HashSet;

use super::Site;
use crate::dwarf::Shape;
use crate::future::{Value, Walk, limits};
use crate::listing::Await;

pub(super) const PATH: &str = "futures_util::stream::futures_unordered::FuturesUnordered";

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    let mut shown = Await::default();
    each(site.walk, site.value, &mut |number, node, cell| {
        if number >= limits::ELEMENTS {
            shown.more += 1;
            return Some(());
        }
        let slot = site.walk.steady.field(cell, "value")?;
        // a future that has returned is gone
        if let Some(future) = site.walk.steady.follow(&slot, &["?"]) {
            let read = || site.walk.future(&future, site.frame, site.depth + 1);
            shown.awaits.push(site.walk.with_waker(node, read));
        }
        Some(())
    })?;
    Some(shown)
}

/// Calls `visit` for each future of a set with its number, its node's address and the cell that has it, until `visit` returns `None`.
/// Returns `None` then, or if the set cannot be read.
pub(crate) fn each(
    walk: &Walk<'_, '_>,
    set: &Value,
    visit: &mut dyn FnMut(u64, u64, &Value) -> Option<()>,
) -> Option<()> {
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
        visit(number, node.address, &steady.field(&node, "future")?)?;
        address = steady.number(&steady.follow(&node, &["next_all", "only"])?)?;
    }
    Some(())
}
