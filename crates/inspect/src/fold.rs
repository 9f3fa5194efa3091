//! Folds tasks that are alike, so that a thousand of them take one line.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use dyntrace_tasks::listing::{Await, Task, WaitsFor};

use super::different::DifferentItems;
use super::words;

/// Ids shown of many.
pub const IDS: usize = 3;

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
    let Some((first, others)) = futures.split_first() else { return String::new() };
    let mut leaves = Leaves::of(first);
    others.iter().for_each(|future| leaves.add(future));
    leaves.text()
}

/// Waits of futures of one kind, gathered one after another.
#[derive(Debug)]
pub struct Leaves {
    /// Without the futures that it awaits.
    first: Await,
    /// Its wait in words.
    text: String,
    /// If they are timers, when each is due.
    times: Vec<i64>,
    /// The waits in words.
    others: DifferentItems,
}

impl Leaves {
    pub fn of(first: &Await) -> Leaves {
        let future = Await { future: first.future.clone(), waits_for: first.waits_for.clone(), ..Await::default() };
        let (text, times) = (words::leaf(&future), due(&future).into_iter().collect());
        Leaves { first: future, text, times, others: DifferentItems::default() }
    }

    pub fn add(&mut self, future: &Await) {
        if let Some(time) = due(future) {
            self.times.push(time);
        } else if (&future.waits_for, &future.future) != (&self.first.waits_for, &self.first.future) {
            let text = words::leaf(future);
            if text != self.text {
                self.others.add(&text);
            }
        }
    }

    /// Adds those of another list, of the same kind.
    pub fn append(&mut self, others: Leaves) {
        self.times.extend(others.times);
        self.others.append(others.others, &self.text, &others.text);
    }

    pub fn text(&self) -> String {
        if let (Some(first), Some(last)) = (self.times.iter().min(), self.times.iter().max())
            && self.times.len() > 1
        {
            return self.timers(*first, *last);
        }
        match self.others.count() {
            1 => self.text.clone(),
            count => format!("{} ({count} different)", words::kind(&self.first)),
        }
    }

    fn timers(&self, first: i64, last: i64) -> String {
        if first < 0 {
            let timer = |due_in: &i64| {
                words::leaf(&Await { waits_for: Some(WaitsFor::Timer { due_in: *due_in }), ..Await::default() })
            };
            let different: HashSet<String> = self.times.iter().map(timer).collect();
            let several = || format!("{} ({} different)", words::kind(&self.first), different.len());
            return if different.len() == 1 { self.text.clone() } else { several() };
        }
        let (first, last) = (words::duration(first.unsigned_abs()), words::duration(last.unsigned_abs()));
        if first == last { format!("timer in {first}") } else { format!("timer in {first} to {last}") }
    }
}

/// When a timer is due.
fn due(future: &Await) -> Option<i64> {
    match future.waits_for {
        Some(WaitsFor::Timer { due_in }) => Some(due_in),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

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
