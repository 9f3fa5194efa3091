//! How far the lead of each clock may move from the solution, so that its pieces can be few.
//!
//! The solution leaves slack to most messages: with the solved clocks they take longer than nothing. Each end of a message gets half of the
//! slack, so the clocks can be fitted one by one: no message goes backwards while each lead stays in its own window.

use super::graph::{Bound, Graph};

/// A lead may move by this part of its error to either side: the half. With a quarter, clocks whose messages take times that vary have several
/// times as many pieces, and errors that are a sixth smaller.
const PART: i128 = 2;
/// The same in nanoseconds for clocks that are bounded from one side, which have no error.
const ONE_SIDED: i128 = 100_000;
/// More than a lead between two ends exceeds the drift, since it is rounded.
const ROUNDING: i128 = 2;

/// The smallest and the largest lead that an end may get.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) low: i128,
    pub(super) high: i128,
}

impl Window {
    /// The window around a lead that no message makes smaller.
    pub(super) fn around(bound: &Bound) -> Window {
        let room = bound.range.map_or(ONE_SIDED, |[least, most]| (most - least) / 2 / PART);
        Window { low: bound.lead - room, high: bound.lead + room }
    }

    /// The same around a lead between two ends, which was rounded.
    pub(super) fn rounded(bound: &Bound) -> Window {
        let Window { low, high } = Window::around(bound);
        Window { low: low - ROUNDING, high: high + ROUNDING }
    }
}

/// Returns the window of each end that is connected with the reference, whose own clock does not move.
pub(super) fn windows(graph: &Graph, bounds: &[Option<Bound>]) -> Vec<Option<Window>> {
    let mut windows: Vec<Option<Window>> = bounds.iter().map(|bound| bound.as_ref().map(Window::around)).collect();
    for message in graph.messages() {
        let (Some(sent), Some(received)) = (&bounds[message.from], &bounds[message.to]) else { continue };
        let slack = message.most - (received.lead - sent.lead);
        let is_fixed = |end: usize| graph.ends()[end].host == graph.reference();
        let of_sender = match (is_fixed(message.from), is_fixed(message.to)) {
            (true, _) => 0,
            (false, true) => slack,
            (false, false) => slack / 2,
        };
        if let Some(window) = &mut windows[message.from] {
            window.low = window.low.max(sent.lead - of_sender);
        }
        if let Some(window) = &mut windows[message.to] {
            window.high = window.high.min(received.lead + slack - of_sender);
        }
    }
    windows
}
