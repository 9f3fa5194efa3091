//! Tasks that are alike, gathered one task after another: a program may have a million, of which `ps` shows a few lines.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use dyntrace_task_table::TaskEntry;
use dyntrace_tasks::listing::{Await, Chain, Name, Spawned, Task, WaitsFor};

use super::different::wide;
use super::fold::{IDS, Leaves};
use super::table::row::{self, Alike, alike};
use super::table::{TaskGroup, Times};
use super::{own, words};

/// Characters of a future's name: the tree has all of it.
pub const NAME: usize = 60;

/// Groups, in the order of the first task of each.
#[derive(Default)]
pub struct Groups<'l> {
    groups: Vec<Group<'l>>,
    by_words: HashMap<Words, usize>,
    /// Most tasks are told by this, without words.
    by_facts: HashMap<u128, usize>,
}

/// Tasks that are alike: in memory, in the program's table, or in both.
pub struct Group<'l> {
    pub tasks: Option<Tasks<'l>>,
    pub rows: Option<TaskGroup>,
}

/// Tasks in memory that are alike.
pub struct Tasks<'l> {
    pub first: Cow<'l, Task>,
    pub count: usize,
    /// The first ones.
    ids: Vec<String>,
    /// Their leaves are of the same kinds, in the same order.
    pub leaves: Vec<Leaves>,
}

/// Tasks of which all this is the same are alike.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Words {
    InMemory { outside: [String; 4], future: String, kinds: Vec<String>, alike: Option<Alike> },
    InTable(Alike, &'static str),
}

impl Words {
    fn of(task: &Task, seen: Option<&TaskEntry>) -> Words {
        let kinds = task.leaves().into_iter().map(words::kind).collect();
        Words::InMemory { outside: outside(task), future: words::future(task), kinds, alike: seen.map(alike) }
    }
}

/// The columns of a task, without its id and waits.
pub fn outside(task: &Task) -> [String; 4] {
    [words::state(task), words::cut(words::future(task), NAME), words::at(task), words::spawned(task)]
}

impl<'l> Groups<'l> {
    /// Adds a task in memory, and in the table if it is there.
    pub fn add(&mut self, task: Cow<'l, Task>, seen: Option<&TaskEntry>, times: Option<Times>) {
        let facts = wide(&Facts { task: &task, alike: seen.map(alike) });
        match self.by_facts.get(&facts) {
            Some(group) => self.groups[*group].add(&task, seen),
            None => {
                let words = Words::of(&task, seen);
                let group = *self.by_words.entry(words).or_insert(self.groups.len());
                self.by_facts.insert(facts, group);
                match self.groups.get_mut(group) {
                    Some(group) => group.add(&task, seen),
                    None => self.groups.push(Group::of(task, seen, times)),
                }
            }
        }
    }

    /// Adds a task that is in the table only.
    pub fn add_row(&mut self, seen: &TaskEntry, times: Times) {
        let group = *self.by_words.entry(Words::InTable(alike(seen), row::state(seen))).or_insert(self.groups.len());
        match self.groups.get_mut(group) {
            Some(group) => group.rows.iter_mut().for_each(|rows| rows.add(seen)),
            None => self.groups.push(Group::of_row(seen, times)),
        }
    }

    /// Adds groups of tasks that come after these.
    pub fn append(&mut self, others: Groups<'l>) {
        let mut words: Vec<(Words, usize)> = others.by_words.into_iter().collect();
        words.sort_unstable_by_key(|(_, group)| *group);
        for ((words, _), other) in words.into_iter().zip(others.groups) {
            let group = *self.by_words.entry(words).or_insert(self.groups.len());
            match self.groups.get_mut(group) {
                Some(group) => group.append(other),
                None => self.groups.push(other),
            }
        }
    }

    pub fn list(&self) -> &[Group<'l>] {
        &self.groups
    }
}

impl<'l> AsRef<Group<'l>> for Group<'l> {
    fn as_ref(&self) -> &Group<'l> {
        self
    }
}

impl<'l> Group<'l> {
    pub fn of(task: Cow<'l, Task>, seen: Option<&TaskEntry>, times: Option<Times>) -> Group<'l> {
        let rows = seen.zip(times).map(|(seen, times)| TaskGroup::of(seen, times));
        let leaves = task.leaves().into_iter().map(Leaves::of).collect();
        let ids = vec![words::id(&task)];
        Group { tasks: Some(Tasks { first: task, count: 1, ids, leaves }), rows }
    }

    pub fn of_row(seen: &TaskEntry, times: Times) -> Group<'l> {
        Group { tasks: None, rows: Some(TaskGroup::of(seen, times)) }
    }

    fn add(&mut self, task: &Task, seen: Option<&TaskEntry>) {
        self.tasks.iter_mut().for_each(|tasks| tasks.add(task));
        if let (Some(rows), Some(seen)) = (&mut self.rows, seen) {
            rows.add(seen);
        }
    }

    fn append(&mut self, others: Group<'l>) {
        if let (Some(tasks), Some(others)) = (&mut self.tasks, others.tasks) {
            tasks.append(others);
        }
        if let (Some(rows), Some(others)) = (&mut self.rows, others.rows) {
            rows.append(others);
        }
    }
}

impl Tasks<'_> {
    fn add(&mut self, task: &Task) {
        if self.ids.len() < IDS {
            self.ids.push(words::id(task));
        }
        self.count += 1;
        for (leaves, leaf) in self.leaves.iter_mut().zip(task.leaves()) {
            leaves.add(leaf);
        }
    }

    fn append(&mut self, others: Tasks<'_>) {
        self.ids.extend(others.ids);
        self.ids.truncate(IDS);
        self.count += others.count;
        self.leaves.iter_mut().zip(others.leaves).for_each(|(leaves, others)| leaves.append(others));
    }

    /// The first ids.
    pub fn ids(&self) -> String {
        self.ids.join(", ") + if self.count > IDS { ", ..." } else { "" }
    }
}

/// The facts from which the words of a task are made: if they are the same, so are the words.
struct Facts<'l> {
    task: &'l Task,
    alike: Option<Alike>,
}

impl Hash for Facts<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let task = self.task;
        let state = [task.state.running, task.state.complete, task.state.notified, task.state.cancelled];
        (state, task.owner == 0, task.linked == Some(false), self.alike).hash(hasher);
        match &task.chain {
            Chain::Read { root } => {
                let own = own::or_self(root);
                (&root.future, &own.future, words::outermost(own)).hash(hasher);
                if root.future.is_empty() {
                    of_name(&task.future, hasher);
                }
            }
            _ => of_name(&task.future, hasher),
        }
        match &task.spawned {
            Spawned::Unknown => 0.hash(hasher),
            Spawned::Recorded(place) => (1, place).hash(hasher),
            Spawned::Candidates(places) => (2, places).hash(hasher),
        }
        task.leaves().into_iter().for_each(|leaf| of_leaf(leaf, hasher));
    }
}

fn of_name(name: &Name, hasher: &mut impl Hasher) {
    match name {
        Name::Type { name } => (0, name).hash(hasher),
        Name::Symbol { name } => (1, name).hash(hasher),
        Name::Candidates { names } => (2, names).hash(hasher),
        Name::Address { poll } => (3, poll).hash(hasher),
    }
}

/// The facts of [`words::kind`].
fn of_leaf(leaf: &Await, hasher: &mut impl Hasher) {
    match &leaf.waits_for {
        Some(WaitsFor::Timer { .. }) => 1.hash(hasher),
        Some(WaitsFor::Join { .. }) => 2.hash(hasher),
        Some(WaitsFor::Channel { channel, .. }) => (3, channel).hash(hasher),
        Some(WaitsFor::Semaphore { address, of, name, .. }) => (4, address, words::of(*of), name).hash(hasher),
        Some(WaitsFor::Notify { address }) => (5, address).hash(hasher),
        Some(WaitsFor::Forever) => 6.hash(hasher),
        None | Some(WaitsFor::UnknownLeaf) => (7, &leaf.future).hash(hasher),
        Some(_) => (8, words::kind(leaf)).hash(hasher),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ps::rows;
    use crate::sample;

    /// The lines of the sample's tasks, of which each of two threads has read a part.
    fn in_parts(cut: usize) -> Vec<Vec<String>> {
        let look = sample::look();
        let kept = look.kept.as_ref().unwrap();
        let times = Some(kept.times());
        let (first, second) = look.listing.tasks.split_at(cut);
        let mut parts = [first, second].map(|tasks| {
            let mut groups = Groups::default();
            tasks.iter().for_each(|task| groups.add(Cow::Borrowed(task), look.row(task), times));
            groups
        });
        let [all, other] = &mut parts;
        all.append(std::mem::take(other));
        kept.others().for_each(|seen| all.add_row(seen, kept.times()));
        rows(all.list().iter(), true, false)
    }

    #[test]
    fn parts_of_threads_are_joined_as_if_one_had_read_all() {
        let all = in_parts(0);
        assert!(all.len() > 30);
        for cut in 1..sample::look().listing.tasks.len() {
            assert_eq!(in_parts(cut), all, "{cut}");
        }
    }

    #[test]
    fn the_same_facts_are_the_same_words() {
        let look = sample::look();
        let mut known = HashMap::new();
        for task in &look.listing.tasks {
            let seen = look.row(task);
            let facts = wide(&Facts { task, alike: seen.map(alike) });
            let words = Words::of(task, seen);
            assert!(known.entry(facts).or_insert_with(|| words.clone()) == &words, "task {}", task.id);
        }
        assert!(known.len() > 30);
    }
}
