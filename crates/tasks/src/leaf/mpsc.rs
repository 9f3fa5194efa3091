//! `mpsc` receivers.

use super::{Site, waits};
use crate::listing::{Await, WaitsFor};

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    let address = site.address(&["chan", "inner", "arc"])?;
    Some(waits(WaitsFor::Channel { channel: "mpsc", address: Some(address) }))
}
