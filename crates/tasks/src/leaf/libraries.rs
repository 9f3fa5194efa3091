//! Primitives of libraries beside tokio that point to the channel or object for which they wait.

use super::{Site, waits};
use crate::listing::{Await, WaitsFor};

enum Kind {
    Channel,
    Object,
}
use Kind::{Channel, Object};

/// Futures by path without parameters, the channel or object of each, and steps to it: the first that lead somewhere count.
#[rustfmt::skip]
const FUTURES: &[(&str, Kind, &str, &[&[&str]])] = &[
    ("async_channel::RecvInner", Channel, "async-channel", &[&["receiver", "*", "channel", "arc"]]),
    ("async_channel::SendInner", Channel, "room in async-channel", &[&["sender", "*", "channel", "arc"]]),
    ("event_listener::EventListener", Object, "event of event-listener", &[&["listener", "only", "*", "event", "arc"]]),
    ("flume::async::RecvFut", Channel, "flume", &[&["receiver", "=", "shared", "arc"], &["receiver", "=", "*", "shared", "arc"]]),
    ("flume::async::SendFut", Channel, "room in flume", &[&["sender", "=", "shared", "arc"], &["sender", "=", "*", "shared", "arc"]]),
    ("futures_channel::oneshot::Receiver", Channel, "futures oneshot", &[&["inner", "arc"]]),
    ("futures_util::lock::mutex::MutexLockFuture", Object, "futures Mutex", &[&["mutex", "?", "*"]]),
    ("futures_util::lock::mutex::OwnedMutexLockFuture", Object, "futures Mutex", &[&["mutex", "?", "arc"]]),
    ("tokio_util::sync::cancellation_token::WaitForCancellationFuture", Object, "CancellationToken", &[&["cancellation_token", "*", "inner", "arc"]]),
    ("tokio_util::sync::cancellation_token::WaitForCancellationFutureOwned", Object, "CancellationToken", &[&["cancellation_token", "inner", "arc"]]),
];

/// The same for streams, which combinators poll.
#[rustfmt::skip]
const STREAMS: &[(&str, Kind, &str, &[&[&str]])] = &[
    ("async_channel::Receiver", Channel, "async-channel", &[&["channel", "arc"]]),
    ("futures_channel::mpsc::Receiver", Channel, "futures mpsc", &[&["inner", "?", "arc"]]),
    ("futures_channel::mpsc::UnboundedReceiver", Channel, "futures mpsc", &[&["inner", "?", "arc"]]),
];

/// Whether [`read`] reads values of this type. `polled`: also streams.
pub(super) fn knows(bare: &str, polled: bool) -> bool {
    let more = if polled { STREAMS } else { &[] };
    FUTURES.iter().chain(more).any(|(path, ..)| *path == bare)
}

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    let bare = site.value.kind.bare();
    let (_, kind, name, paths) = FUTURES.iter().chain(STREAMS).find(|(path, ..)| *path == bare)?;
    let address = paths.iter().find_map(|steps| site.address(steps))?;
    Some(waits(match kind {
        Channel => WaitsFor::Channel { channel: name, address: Some(address) },
        Object => WaitsFor::Object { object: name, address },
    }))
}
