//! Support for the crate `dyntrace-tracing`: spans that threads enter.
//!
//! Most stays in a span have no operation that needs its tag. So entering one notes only its number, and its layer is asked for the tag
//! when an operation begins.

use std::time::Instant;

use super::Tag;

/// A span that a thread is inside of.
#[derive(Clone, Copy, Debug)]
pub struct EnteredSpan {
    /// The number of its layer. No other layer of the program ever has it.
    pub layer: u64,
    /// Its number in that layer.
    pub id: u64,
    /// Finds the tag of a span by both numbers. Must end soon, also in a signal handler, and must not panic. `None` if the span has no tag,
    /// or if its layer has ended: then the span around it counts.
    pub find: fn(layer: u64, id: u64) -> Option<Tag>,
    /// When it was entered, if that is asked for.
    pub since: Option<Instant>,
}

impl EnteredSpan {
    pub(super) fn tag(&self) -> Option<Tag> {
        (self.find)(self.layer, self.id)
    }
}
