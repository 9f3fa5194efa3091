//! `Notify::notified`, also within a `watch` channel.

use super::{Site, waits, watch};
use crate::listing::{Await, WaitsFor};

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    let address = site.number(&["notify"])?;
    Some(waits(watch::of(site).unwrap_or(WaitsFor::Notify { address })))
}

pub(super) fn read_owned(site: &Site<'_, '_>) -> Option<Await> {
    let address = site.address(&["notify", "arc"])?;
    Some(waits(WaitsFor::Notify { address }))
}
