//! Tasks that will not go on by themselves: deadlocks and futurelocks.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use anstyle::{AnsiColor, Style};
use dyntrace_tasks::listing::{Guard, Listing, SemaphoreOf, Task};
use dyntrace_tasks::locks::{Cycle, Futurelock, Locks, Waiter, futurelocks_in_both, in_both};
use dyntrace_terminal::escape;
use serde::Serialize;

use super::blocked::{by_address, held_by, is_through, name, stands};
use super::read::Look;
use super::table::{self, Circle};
use super::words;

/// Ids shown of the tasks that wait for one lock.
const WAITING: usize = 8;

#[derive(Debug, Clone, Default, Serialize)]
pub struct Stuck {
    pub deadlocks: Vec<Cycle>,
    pub futurelocks: Vec<Futurelock>,
    /// Deadlocks that only the table tells.
    pub table_deadlocks: Vec<Circle>,
}

impl Stuck {
    /// Those of one look, by both sources.
    pub fn of_look(look: &Look) -> Stuck {
        let mut stuck = Stuck::of(&look.listing);
        let mut circles = look.kept.as_ref().map(table::circles).unwrap_or_default();
        let pids: HashSet<u64> = circles.iter().flat_map(|circle| circle.pids.iter()).collect();
        let in_memory = look.listing.tasks.iter().filter_map(|task| Some((look.row(task)?.task.pid, task)));
        let in_memory: HashMap<u64, &Task> = in_memory.filter(|(pid, _)| pids.contains(pid)).collect();
        let told: HashSet<u64> =
            stuck.deadlocks.iter().flat_map(|cycle| &cycle.steps).map(|step| step.address).collect();
        circles.retain_mut(|circle| {
            let tasks: Vec<Option<&&Task>> = circle.pids.iter().map(|pid| in_memory.get(&pid)).collect();
            circle.may_end = !tasks.iter().all(|task| task.is_some_and(|task| words::leaves(task).len() == 1));
            !tasks.iter().all(|task| task.is_some_and(|task| told.contains(&task.address)))
        });
        stuck.table_deadlocks = circles;
        stuck
    }

    /// Those of one look at memory whose tasks all stand still. The chain of a running task is that of its previous suspension.
    pub fn of(listing: &Listing) -> Stuck {
        let by_address = LazyCell::new(|| by_address(listing));
        let stands = |task: u64| by_address.get(&task).is_some_and(|task| stands(task));
        let locks = Locks::of(listing);
        let (deadlocks, futurelocks) = (locks.cycles(), locks.futurelocks());
        let mut stuck = Stuck { deadlocks, futurelocks, table_deadlocks: Vec::new() };
        stuck.deadlocks.retain(|cycle| cycle.steps.iter().all(|step| stands(step.address)));
        stuck.futurelocks.retain(|lock| stands(lock.address));
        stuck
    }

    /// Those that an earlier look has, too.
    pub fn also_in(self, before: &Stuck) -> Stuck {
        Stuck {
            deadlocks: in_both(&before.deadlocks, self.deadlocks),
            futurelocks: futurelocks_in_both(&before.futurelocks, self.futurelocks),
            table_deadlocks: self.table_deadlocks.into_iter().filter(|circle| before.has(circle)).collect(),
        }
    }

    /// Whether the same tasks wait since the same times.
    fn has(&self, circle: &Circle) -> bool {
        self.table_deadlocks.iter().any(|known| known.pids == circle.pids)
    }

    /// Those that an earlier look does not have.
    pub fn without(&self, known: &Stuck) -> Stuck {
        let Stuck { deadlocks, futurelocks, .. } = self.clone().also_in(known);
        let new_lock = |lock: &&Futurelock| !futurelocks.contains(*lock);
        Stuck {
            deadlocks: self.deadlocks.iter().filter(|cycle| !deadlocks.contains(*cycle)).cloned().collect(),
            futurelocks: self.futurelocks.iter().filter(new_lock).cloned().collect(),
            table_deadlocks: self.table_deadlocks.iter().filter(|circle| !known.has(circle)).cloned().collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.deadlocks.is_empty() && self.futurelocks.is_empty() && self.table_deadlocks.is_empty()
    }

    pub fn text(&self, look: &Look) -> String {
        let deadlocks = self.deadlocks.iter().map(|cycle| deadlock(cycle, look));
        let futurelocks = self.futurelocks.iter().map(|lock| futurelock(lock, look));
        let circles = self.table_deadlocks.iter().map(|circle| of_table(circle, look));
        deadlocks.chain(circles).chain(futurelocks).collect::<Vec<_>>().join("\n")
    }
}

fn red() -> Style {
    Style::new().fg_color(Some(AnsiColor::Red.into())).bold()
}

fn deadlock(cycle: &Cycle, look: &Look) -> String {
    let (by_address, red) = (by_address(&look.listing), red());
    let count = words::counted(cycle.steps.len(), "task");
    let end = if cycle.may_end { ", and one of them also for something else, which may end it" } else { "" };
    let perhaps = if cycle.certain { "" } else { "perhaps a " };
    let mut text = format!("{red}{perhaps}deadlock:{red:#} {count} wait for each other{end}\n");
    for step in &cycle.steps {
        let Some(task) = by_address.get(&step.address) else { continue };
        text += &headed(task, look);
        let waits = words::leaves(task).into_iter().filter(|future| is_through(future, &step.blocker));
        for future in waits {
            text += &format!("  waits at {} for {}\n", words::at(task), words::leaf(future));
            let noted = words::holder(future).and_then(|holder| look.holder_since(holder));
            text += &noted.map(|noted| format!("  the lock says: {noted}\n")).unwrap_or_default();
        }
        let blocker =
            by_address.get(&step.blocker.address).map_or(step.blocker.task.to_string(), |task| words::id(task));
        text += &format!("  {}\n", held_by(&step.blocker, &format!("task {blocker}")));
    }
    text
}

fn of_table(circle: &Circle, look: &Look) -> String {
    let red = red();
    let count = words::counted(circle.pids.iter().count(), "task");
    let end = if circle.may_end { ", unless one of them waits also for something else" } else { "" };
    let mut text = format!("{red}deadlock:{red:#} {count} wait for each other, by the table{end}\n");
    let kept = look.kept.iter();
    for (kept, seen) in kept.flat_map(|kept| circle.pids.iter().filter_map(move |pid| Some((kept, kept.by_pid(pid)?))))
    {
        text += &format!("{}\n  {}\n", table::facts(kept, &[seen]), table::waits(kept, seen));
    }
    text
}

/// The line of a task, and that of the table.
fn headed(task: &Task, look: &Look) -> String {
    let row = look.line(&[task]).map(|row| format!("  {row}\n")).unwrap_or_default();
    format!("{}\n{row}", name(task))
}

fn futurelock(lock: &Futurelock, look: &Look) -> String {
    let by_address = by_address(&look.listing);
    let Some(task) = by_address.get(&lock.address) else { return String::new() };
    let red = red();
    let (perhaps, semaphore) = (if lock.certain { "" } else { "perhaps a " }, lock.guard.semaphore);
    let mut text = format!("{red}{perhaps}futurelock:{red:#} task {} does not poll the future that ", words::id(task));
    let has = if lock.guard.unpolled.as_ref().is_some_and(|unpolled| unpolled.granted) { "was granted" } else { "has" };
    let part = if matches!(lock.of, SemaphoreOf::Semaphore | SemaphoreOf::Unknown) { "permits of " } else { "" };
    text += &format!("{has} {part}{} {semaphore:#x}\n{}", words::of(lock.of), headed(task, look));
    text += &format!("  {}\n", future_of(&lock.guard));
    for leaf in words::leaves(task) {
        text += &format!("  waits at {} for {}\n", words::at(task), words::leaf(leaf));
    }
    let id = |waiter: &Waiter| by_address.get(&waiter.address).map_or(waiter.task.to_string(), |task| words::id(task));
    let mut ids: Vec<String> = lock.waiting.iter().take(WAITING).map(id).collect();
    ids.extend((lock.waiting.len() > WAITING).then(|| "...".to_owned()));
    let count = words::counted(lock.waiting.len(), "task");
    let wait = if lock.waiting.len() == 1 { "waits" } else { "wait" };
    text + &format!("  {count} {wait} for {semaphore:#x}: {}\n", ids.join(", "))
}

/// The future that has a guard, and its variable.
fn future_of(guard: &Guard) -> String {
    let future = guard.unpolled.as_ref().map(words::unpolled).unwrap_or_default();
    format!("keeps it in {}: {future}", escape::name(&guard.variable))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_cycle_with_a_task_that_runs_is_none() {
        let mut listing = sample::listing();
        assert_eq!(Stuck::of(&listing).deadlocks.len(), 1);
        listing.tasks.iter_mut().find(|task| task.id == 3).unwrap().state.running = true;
        assert!(Stuck::of(&listing).deadlocks.is_empty());
    }

    #[test]
    fn a_task_that_could_not_be_read_makes_a_deadlock_uncertain() {
        let mut listing = sample::listing();
        let begins = |listing: &Listing, words: &str| {
            let text = Stuck::of(listing).text(&Look::of_memory(listing.clone()));
            anstream::adapter::strip_str(&text).to_string().starts_with(words)
        };
        assert!(begins(&listing, "perhaps a deadlock: 2 tasks wait for each other\n"));
        listing.tasks.retain(|task| matches!(task.id, 3 | 5));
        assert!(begins(&listing, "deadlock: 2 tasks wait for each other\n"));
    }

    #[test]
    fn one_look_proves_nothing() {
        let look = Look::of_memory(sample::listing());
        let listing = &look.listing;
        assert!(Stuck::of(listing).also_in(&Stuck::default()).is_empty());
        let found = Stuck::of(listing);
        assert_eq!((found.deadlocks.len(), found.futurelocks.len()), (1, 2));
        assert!(found.without(&found).is_empty());
        assert_eq!(found.without(&Stuck::default()).text(&look), found.text(&look));
    }
}
