//! Bodies of hyper's messages: `Incoming`, one that arrives, and one that goes out on a stream of h2.

use super::{Site, waits};
use crate::listing::{Await, WaitsFor};

/// From the body to its channel: since hyper 1.12, and before.
const CHANNELS: &[&[&str]] = &[&["rx", "shared", "arc"], &["data_rx", "inner", "?", "arc"]];

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    let steady = &site.walk.steady;
    let (name, variant) = steady.variant(&steady.field(site.value, "kind")?)?;
    match name.as_str() {
        // the connection's task sends the data that it reads
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

/// Reads a future that sends a body: it waits for room in the stream, else for the body's next part.
pub(super) fn read_pipe(site: &Site<'_, '_>) -> Option<Await> {
    let walk = site.walk;
    let field = |name: &str| walk.steady.field(site.value, name);
    let (stream, body) = (field("body_tx")?, field("stream")?);
    let mut shown = Await::default();
    // since hyper 1.12 it keeps the part for which it wants room: room lacks also while the part before is not sent yet
    let has_part =
        field("buffered_data").and_then(|part| walk.steady.variant(&part)).is_none_or(|(name, _)| name == "Some");
    if has_part {
        walk.registered(&[&stream], true, &mut shown);
    }
    if shown.waits_for.is_none() {
        walk.collect(&body, site.frame, true, site.depth + 1, &mut shown);
        walk.registered(&[&body], true, &mut shown);
    }
    (shown.waits_for.is_some() || !shown.awaits.is_empty()).then_some(shown)
}
