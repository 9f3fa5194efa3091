//! `oneshot::Receiver`, and `oneshot::Sender::closed`.

use super::{Site, operation, waits};
use crate::listing::{Await, WaitsFor};

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    operation::answered(site).or_else(|| channel(site, "oneshot"))
}

pub(super) fn read_closed(site: &Site<'_, '_>) -> Option<Await> {
    channel(site, "end of oneshot")
}

fn channel(site: &Site<'_, '_>, channel: &'static str) -> Option<Await> {
    let steady = &site.walk.steady;
    let inner = steady.field(site.value, "inner")?;
    let (name, _) = steady.variant(&inner)?;
    let address = match name.as_str() {
        "Some" => Some(steady.follow(&inner, &["?", "arc"])?.address),
        _ => None,
    };
    Some(waits(WaitsFor::Channel { channel, address }))
}
