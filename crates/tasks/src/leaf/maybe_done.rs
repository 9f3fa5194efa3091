//! `MaybeDone`, a branch of `join!`.

use super::Site;
use crate::listing::{Await, Progress};

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    let steady = &site.walk.steady;
    let (name, variant) = steady.variant(site.value)?;
    match name.as_str() {
        "Future" => {
            let future = steady.member(&variant, variant.kind.members.first()?)?;
            Some(site.walk.future(&future, site.frame, site.depth + 1))
        }
        "Done" | "Gone" => Some(Await { progress: Progress::Returned, ..Await::default() }),
        _ => None,
    }
}
