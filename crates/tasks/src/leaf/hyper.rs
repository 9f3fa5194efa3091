//! hyper's `Incoming`, the body of a message that arrives.

use super::{Site, waits};
use crate::listing::{Await, WaitsFor};

/// From the body to its channel: since hyper 1.12, and before.
const CHANNELS: &[&[&str]] = &[&["rx", "shared", "arc"], &["data_rx", "inner", "?", "arc"]];

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    let steady = &site.walk.steady;
    let (name, variant) = steady.variant(&steady.field(site.value, "kind")?)?;
    match name.as_str() {
        // the connection's task sends what it reads
        "Chan" => {
            let channel = CHANNELS.iter().find_map(|steps| steady.follow(&variant, steps))?;
            Some(waits(WaitsFor::Channel { channel: "hyper body", address: Some(channel.address) }))
        }
        "H2" => {
            let streams = steady.follow(&variant, &["recv", "inner", "inner", "inner", "arc"])?;
            Some(waits(WaitsFor::Object { object: "body on h2 connection", address: streams.address }))
        }
        _ => None,
    }
}
