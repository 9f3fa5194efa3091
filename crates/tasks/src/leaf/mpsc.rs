//! `mpsc` receivers.

use super::{Site, waits};
use crate::listing::{Await, WaitsFor};

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    channel(site, &["chan", "inner", "arc"])
}

/// Reads the part of a receiver that closures of tokio's capture.
pub(super) fn read_inner(site: &Site<'_, '_>) -> Option<Await> {
    channel(site, &["inner", "arc"])
}

fn channel(site: &Site<'_, '_>, steps: &[&str]) -> Option<Await> {
    let address = site.address(steps)?;
    Some(waits(WaitsFor::Channel { channel: "mpsc", address: Some(address) }))
}
