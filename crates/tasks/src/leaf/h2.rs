//! A stream of h2, to which a future has a handle. The connection's table of streams has the wakers of each stream.

use super::registered::wakes;
use crate::dwarf::Type;
use crate::future::{Value, Walk, list};
use crate::listing::WaitsFor;

/// The handle of h2's types that receive, and the one of those that send.
const RECEIVES: &str = "h2::proto::streams::streams::OpaqueStreamRef";
const SENDS: &str = "h2::proto::streams::streams::StreamRef";

/// Whether a type is the handle of a stream.
pub(super) fn is_handle(kind: &Type) -> bool {
    [RECEIVES, SENDS].contains(&kind.bare())
}

/// Returns the event of the stream for which the task waits, and the address of the waker in the table.
pub(super) fn read(walk: &Walk<'_, '_>, handle: &Value) -> Option<(u64, WaitsFor)> {
    let sends = handle.kind.bare() == SENDS;
    let opaque = if sends { walk.steady.field(handle, "opaque")? } else { handle.clone() };
    let shared = walk.steady.follow(&opaque, &["inner", "arc"])?;
    // other threads change the table
    let live = &walk.live;
    let number = |value: &Value, steps: &[&str]| live.follow(value, steps).and_then(|value| live.number(&value));
    let connection = live.follow(&shared, &["data", "value"])?;
    let index = number(&opaque, &["key", "index", "only"])?;
    let (entry, begin, length) = list(live, &live.follow(&connection, &["store", "slab", "entries"])?)?;
    let offset = live.types.get(entry).size.checked_mul(index).filter(|_| index < length)?;
    let (state, entry) = live.variant(&live.at(entry, begin.checked_add(offset)?))?;
    let stream = live.field(&entry, "__0").filter(|_| state == "Occupied")?;
    // the place may be another stream's by now
    if number(&stream, &["id", "only"])? != number(&opaque, &["key", "stream_id", "only"])? {
        return None;
    }
    let event = |waker, object| {
        let waker = live.field(&stream, waker).filter(|waker| wakes(walk, waker, &[]))?;
        Some((waker.address, WaitsFor::Object { object, address: shared.address }))
    };
    if !sends {
        let waits_to_open = number(&stream, &["is_pending_open"])? != 0;
        let to_open = || event("send_task", "room on h2 connection").filter(|_| waits_to_open);
        return event("recv_task", "message on h2 connection").or_else(to_open);
    }
    let most = number(&connection, &["actions", "send", "prioritize", "max_buffer_size"])?;
    let window = number(&stream, &["send_flow", "available", "only"])? as u32 as i32;
    let capacity = u64::try_from(window).unwrap_or(0).min(most);
    let wants_room = number(&stream, &["requested_send_capacity"])? > 0;
    // with room the waker is there for a reset of the stream, beside other events
    let lacks_room = wants_room && capacity <= number(&stream, &["buffered_send_data"])?;
    event("send_task", "room on h2 connection").filter(|_| lacks_room)
}
