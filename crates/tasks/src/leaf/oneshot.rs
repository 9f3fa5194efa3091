//! `oneshot::Receiver`, and `oneshot::Sender::closed`.

use super::{Site, waits};
use crate::listing::{Await, WaitsFor};

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    let steady = &site.walk.steady;
    let inner = steady.field(site.value, "inner")?;
    let (name, _) = steady.variant(&inner)?;
    let address = match name.as_str() {
        "Some" => Some(steady.follow(&inner, &["?", "arc"])?.address),
        _ => None,
    };
    Some(waits(WaitsFor::Channel { channel: "oneshot", address }))
}
