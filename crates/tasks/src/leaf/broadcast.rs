//! `broadcast::Receiver::recv`.

use super::{Site, waits};
use crate::listing::{Await, WaitsFor};

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    let address = site.address(&["receiver", "*", "shared", "arc"])?;
    Some(waits(WaitsFor::Channel { channel: "broadcast", address: Some(address) }))
}
