//! Folds tasks that are alike, so that a thousand of them take one line.

use std::collections::HashMap;
use std::hash::Hash;

use dyntrace_tasks::listing::{Await, Task, WaitsFor};

use super::words;

/// Ids shown of many.
const IDS: usize = 3;

/// Groups items with the same key, in the order of the first of each.
pub fn fold<T, K: Hash + Eq>(items: impl IntoIterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut known: HashMap<K, usize> = HashMap::new();
    for item in items {
        let group = *known.entry(key(&item)).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(item);
    }
    groups
}

/// The ids of a group; the first ones of a large group.
pub fn ids(tasks: &[&Task]) -> String {
    let shown: Vec<String> = tasks.iter().take(IDS).map(|task| words::id(task)).collect();
    let more = if tasks.len() > IDS { ", ..." } else { "" };
    shown.join(", ") + more
}

/// Summarises the waits of futures of one kind.
pub fn summary(futures: &[&Await]) -> String {
    let mut times: Vec<i64> = futures
        .iter()
        .filter_map(|future| match future.waits_for {
            Some(WaitsFor::Timer { due_in }) => Some(due_in),
            _ => None,
        })
        .collect();
    times.sort_unstable();
    if let [first, .., last] = times[..]
        && first >= 0
    {
        let (first, last) = (words::duration(first.unsigned_abs()), words::duration(last.unsigned_abs()));
        return if first == last { format!("timer in {first}") } else { format!("timer in {first} to {last}") };
    }
    let different = fold(futures, |future| words::leaf(future));
    match (&different[..], futures) {
        ([_], [first, ..]) => words::leaf(first),
        (_, [first, ..]) => format!("{} ({} different)", words::kind(first), different.len()),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::sample;

    #[test]
    fn futures_of_one_kind_are_told_together() {
        let told = |waits: Vec<WaitsFor>| {
            let futures: Vec<Await> = waits.into_iter().map(sample::waiting).collect();
            summary(&futures.iter().collect::<Vec<_>>())
        };
        let timer = |due_in| WaitsFor::Timer { due_in };
        let join = |task| WaitsFor::Join { address: 0, task: Some(task) };
        assert_eq!(told(vec![timer(3_000_000_000), timer(1_500_000)]), "timer in 2 ms to 3.0 s");
        assert_eq!(told(vec![timer(1_000_000), timer(1_000_000)]), "timer in 1 ms");
        assert_eq!(told(vec![timer(-1_000_000), timer(1_000_000)]), "timer (2 different)");
        assert_eq!(told(vec![join(7), join(8), join(7)]), "join of a task (2 different)");
        assert_eq!(told(vec![join(7), join(7)]), "join of task 7");
    }
}
