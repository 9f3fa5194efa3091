//! Cycles of tasks of which each waits for the next one.

use std::collections::{HashMap, HashSet};

/// A blocked task and a blocker of it, by their places among the blocked tasks.
pub(crate) type Edge = (usize, usize);

/// Follows the first blocker of each of `count` tasks until one comes again. Returns the cycles, at most one for each task, the lowest one
/// first. `edges` are in the order of the blocked tasks.
pub(crate) fn cycles(mut edges: Vec<Edge>, count: usize) -> Vec<Vec<usize>> {
    remove_dead_ends(&mut edges, count);
    let (mut followed, mut found) = (HashSet::new(), Vec::new());
    for (first, _) in &edges {
        let (mut path, mut places, mut task) = (Vec::new(), HashMap::new(), *first);
        while followed.insert(task) {
            places.insert(task, path.len());
            path.push(task);
            task = edges[edges.partition_point(|(blocked, _)| *blocked < task)].1;
        }
        // Otherwise it leads to a cycle that was found before.
        if let Some(begin) = places.get(&task) {
            let mut cycle = path.split_off(*begin);
            let lowest = cycle.iter().enumerate().min_by_key(|(_, task)| **task).map_or(0, |(place, _)| place);
            cycle.rotate_left(lowest);
            found.push(cycle);
        }
    }
    found
}

/// Removes tasks that are in no cycle and behind none, of `count`: those whose blockers are not blocked themselves.
fn remove_dead_ends(edges: &mut Vec<Edge>, count: usize) {
    let mut left = vec![0_usize; count];
    edges.iter().for_each(|(task, _)| left[*task] += 1);
    let mut by_blocker: Vec<Edge> = edges.iter().map(|(task, blocker)| (*blocker, *task)).collect();
    by_blocker.sort_unstable();
    let mut free: Vec<usize> = (0..count).filter(|task| left[*task] == 0).collect();
    while let Some(task) = free.pop() {
        let first = by_blocker.partition_point(|(blocker, _)| *blocker < task);
        for (_, waiting) in by_blocker[first..].iter().take_while(|(blocker, _)| *blocker == task) {
            left[*waiting] -= 1;
            free.extend((left[*waiting] == 0).then_some(*waiting));
        }
    }
    edges.retain(|(task, blocker)| left[*task] > 0 && left[*blocker] > 0);
}
