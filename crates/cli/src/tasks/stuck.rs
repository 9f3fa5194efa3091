//! Tasks that will not go on by themselves: deadlocks and futurelocks.

use anstyle::{AnsiColor, Style};
use dyntrace_tasks::listing::{Guard, Listing, SemaphoreOf, Task};
use dyntrace_tasks::locks::{Cycle, Futurelock, Locks, Waiter, futurelocks_in_both, in_both};
use serde::Serialize;

use super::read::Look;
use super::why::{by_address, held_by, is_through, name, stands};
use super::words;
use crate::escape;

/// Ids shown of the tasks that wait for one lock.
const WAITING: usize = 8;

#[derive(Debug, Clone, Default, Serialize)]
pub struct Stuck {
    pub deadlocks: Vec<Cycle>,
    pub futurelocks: Vec<Futurelock>,
}

impl Stuck {
    /// Those of one look whose tasks all stand still. The chain of a running task is that of its previous suspension.
    pub fn of(listing: &Listing) -> Stuck {
        let by_address = by_address(listing);
        let stands = |task: u64| by_address.get(&task).is_some_and(|task| stands(task));
        let locks = Locks::of(listing);
        let mut stuck = Stuck { deadlocks: locks.cycles(), futurelocks: locks.futurelocks() };
        stuck.deadlocks.retain(|cycle| cycle.steps.iter().all(|step| stands(step.address)));
        stuck.futurelocks.retain(|lock| stands(lock.address));
        stuck
    }

    /// Those that an earlier look has, too.
    pub fn also_in(self, before: &Stuck) -> Stuck {
        Stuck {
            deadlocks: in_both(&before.deadlocks, self.deadlocks),
            futurelocks: futurelocks_in_both(&before.futurelocks, self.futurelocks),
        }
    }

    /// Those that an earlier look does not have.
    pub fn without(&self, known: &Stuck) -> Stuck {
        let Stuck { deadlocks, futurelocks } = self.clone().also_in(known);
        let new_lock = |lock: &&Futurelock| !futurelocks.contains(*lock);
        Stuck {
            deadlocks: self.deadlocks.iter().filter(|cycle| !deadlocks.contains(*cycle)).cloned().collect(),
            futurelocks: self.futurelocks.iter().filter(new_lock).cloned().collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.deadlocks.is_empty() && self.futurelocks.is_empty()
    }

    pub fn text(&self, look: &Look) -> String {
        let deadlocks = self.deadlocks.iter().map(|cycle| deadlock(cycle, look));
        let futurelocks = self.futurelocks.iter().map(|lock| futurelock(lock, look));
        deadlocks.chain(futurelocks).collect::<Vec<_>>().join("\n")
    }
}

fn red() -> Style {
    Style::new().fg_color(Some(AnsiColor::Red.into())).bold()
}

fn deadlock(cycle: &Cycle, look: &Look) -> String {
    let (by_address, red) = (by_address(&look.listing), red());
    let count = words::counted(cycle.steps.len(), "task");
    let end = if cycle.may_end { ", and one of them also for something else, which may end it" } else { "" };
    let mut text = format!("{red}deadlock:{red:#} {count} wait for each other{end}\n");
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
    use crate::tasks::sample;

    #[test]
    fn a_cycle_with_a_task_that_runs_is_none() {
        let mut listing = sample::listing();
        assert_eq!(Stuck::of(&listing).deadlocks.len(), 1);
        listing.tasks.iter_mut().find(|task| task.id == 3).unwrap().state.running = true;
        assert!(Stuck::of(&listing).deadlocks.is_empty());
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
