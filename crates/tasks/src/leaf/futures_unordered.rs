//! `FuturesUnordered`, which long `join_all`s use too.

use std::collections::HashSet;

use super::Site;
use crate::dwarf::Shape;
use crate::future::limits;
use crate::listing::Await;

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    let steady = &site.walk.steady;
    let head = steady.follow(site.value, &["head_all", "only"])?;
    let Shape::Pointer(Some(node)) = head.kind.shape else { return None };
    let mut address = steady.number(&head)?;
    let mut shown = Await::default();
    let mut seen = HashSet::new();
    while address != 0 {
        // a list that changes may lead in a circle
        if seen.len() as u64 >= limits::COUNTED || !seen.insert(address) {
            return None;
        }
        let node = site.walk.held(steady.at(node, address));
        if seen.len() as u64 <= limits::ELEMENTS {
            let slot = steady.follow(&node, &["future", "value"])?;
            // a future that has returned is gone
            if let Some(future) = steady.follow(&slot, &["?"]) {
                let read = || site.walk.future(&future, site.frame, site.depth + 1);
                shown.awaits.push(site.walk.with_waker(node.address, read));
            }
        } else {
            shown.more += 1;
        }
        address = steady.number(&steady.follow(&node, &["next_all", "only"])?)?;
    }
    Some(shown)
}
