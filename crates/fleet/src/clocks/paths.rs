//! Shortest paths with negative lengths, by Bellman and Ford.

use super::message::Contradiction;

/// A constraint: the lead at `to` is at most `most` larger than that at `from`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrow {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) most: i128,
    /// The message that it comes from.
    pub(super) message: Option<usize>,
}

/// Returns for each end the length of the shortest path that begins at an end with a length, including that.
///
/// Each pass follows the arrows in their order, the next one in the opposite order.
pub(super) fn shortest(arrows: &[Arrow], start: Vec<Option<i128>>) -> Result<Vec<Option<i128>>, Contradiction> {
    let mut lengths = start;
    // The last arrow of each path.
    let mut last: Vec<Option<usize>> = vec![None; lengths.len()];
    for pass in 1_usize.. {
        let mut is_changed = false;
        let mut follow = |at: usize| {
            let Arrow { from, to, most, .. } = arrows[at];
            let Some(length) = lengths[from].map(|length| length + most) else { return };
            if lengths[to].is_none_or(|known| length < known) {
                (lengths[to], last[to], is_changed) = (Some(length), Some(at), true);
            }
        };
        if pass % 2 == 1 {
            (0..arrows.len()).for_each(&mut follow);
        } else {
            (0..arrows.len()).rev().for_each(&mut follow);
        }
        if !is_changed {
            break;
        }
        // Paths that end in a circle become shorter without end.
        if (pass.is_power_of_two() || pass > lengths.len())
            && let Some(circle) = circle(arrows, &last)
        {
            return Err(Contradiction { messages: circle });
        }
    }
    Ok(lengths)
}

/// The messages on a circle of last arrows, if there is one.
fn circle(arrows: &[Arrow], last: &[Option<usize>]) -> Option<Vec<usize>> {
    // For each end the number of the walk that has passed it.
    let mut passed = vec![0; last.len()];
    for start in 0..last.len() {
        let mut end = start;
        while passed[end] == 0 {
            passed[end] = start + 1;
            let Some(arrow) = last[end] else { break };
            end = arrows[arrow].from;
        }
        if passed[end] != start + 1 || last[end].is_none() {
            continue;
        }
        let (first, mut messages) = (end, Vec::new());
        loop {
            let arrow = arrows[last[end]?];
            messages.extend(arrow.message);
            end = arrow.from;
            if end == first {
                return Some(messages);
            }
        }
    }
    None
}
