//! `watch` channels: their functions wait by a `Notify` within the channel.

use super::Site;
use crate::listing::WaitsFor;

/// Variables of these functions that lead to the channel.
const SHARED: &[&[&str]] = &[&["shared", "*"], &["self", "*", "shared", "arc"]];

/// Returns the channel if one of its functions awaits the primitive.
pub(super) fn of(site: &Site<'_, '_>) -> Option<WaitsFor> {
    let mut frames = site.within_tokio().filter(|frame| frame.path.starts_with("tokio::sync::watch::")).peekable();
    frames.peek()?;
    let steady = &site.walk.steady;
    let shared = |variables| SHARED.iter().find_map(|steps| steady.follow(variables, steps));
    let address = frames.find_map(|frame| shared(frame.variables)).map(|shared| shared.address);
    // the channel ends with its last receiver
    let closed = site.within_tokio().any(|frame| frame.path.contains("::closed::"));
    Some(WaitsFor::Channel { channel: if closed { "end of watch" } else { "watch" }, address })
}
