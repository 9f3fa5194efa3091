//! Deadlocks and futurelocks in words.

use anstyle::{AnsiColor, Style};
use dyntrace_tasks::listing::{Guard, SemaphoreOf, Task};
use dyntrace_tasks::locks::{Cycle, Futurelock, Waiter};
use dyntrace_tasks::stuck::{Stuck, TableCycle};
use dyntrace_terminal::escape;

use super::blocked::{held_by, name};
use super::read::Look;
use super::table::TaskGroup;
use super::{table, words};

/// Ids shown of the tasks that wait for one lock.
const WAITING: usize = 8;

pub fn text(stuck: &Stuck, look: &Look) -> String {
    let deadlocks = stuck.deadlocks.iter().map(|cycle| deadlock(cycle, look));
    let futurelocks = stuck.futurelocks.iter().map(|lock| futurelock(lock, look));
    let by_table = stuck.table_deadlocks.iter().map(|cycle| of_table(cycle, look));
    deadlocks.chain(by_table).chain(futurelocks).collect::<Vec<_>>().join("\n")
}

fn red() -> Style {
    Style::new().fg_color(Some(AnsiColor::Red.into())).bold()
}

fn deadlock(cycle: &Cycle, look: &Look) -> String {
    let (by_address, red) = (look.listing.by_address(), red());
    let count = words::counted(cycle.steps.len(), "task");
    let end = if cycle.may_end { ", and one of them also for something else, which may end it" } else { "" };
    let perhaps = if cycle.certain { "" } else { "perhaps a " };
    let mut text = format!("{red}{perhaps}deadlock:{red:#} {count} wait for each other{end}\n");
    for step in &cycle.steps {
        let Some(task) = by_address.get(&step.address) else { continue };
        text += &headed(task, look);
        let waits = task.leaves().into_iter().filter(|future| step.blocker.is_awaited_by(future));
        for future in waits {
            text += &format!("  waits at {} for {}\n", words::at_leaf(task, future), words::leaf(future));
            let noted = future.holder().and_then(|holder| look.holder_since(holder));
            text += &noted.map(|noted| format!("  the lock says: {noted}\n")).unwrap_or_default();
        }
        let blocker =
            by_address.get(&step.blocker.address).map_or(step.blocker.task.to_string(), |task| words::id(task));
        text += &format!("  {}\n", held_by(&step.blocker, &format!("task {blocker}")));
    }
    text
}

fn of_table(cycle: &TableCycle, look: &Look) -> String {
    let red = red();
    let count = words::counted(cycle.steps.len(), "task");
    let end = if cycle.may_end { ", unless one of them waits also for something else" } else { "" };
    let mut text = format!("{red}deadlock:{red:#} {count} wait for each other, by the table{end}\n");
    let Some(kept) = &look.kept else { return text };
    for seen in cycle.steps.iter().filter_map(|step| kept.by_pid(step.process)) {
        text += &format!("{}\n  {}\n", TaskGroup::of(seen, kept.times()).facts(), table::waits(kept, seen));
    }
    text
}

/// The line of a task, and that of the table.
fn headed(task: &Task, look: &Look) -> String {
    let row = look.line(&[task]).map(|row| format!("  {row}\n")).unwrap_or_default();
    format!("{}\n{row}", name(task))
}

fn futurelock(lock: &Futurelock, look: &Look) -> String {
    let by_address = look.listing.by_address();
    let Some(task) = by_address.get(&lock.address) else { return String::new() };
    let red = red();
    let (perhaps, semaphore) = (if lock.certain { "" } else { "perhaps a " }, lock.guard.semaphore);
    let mut text = format!("{red}{perhaps}futurelock:{red:#} task {} does not poll the future that ", words::id(task));
    let has = if lock.guard.unpolled.as_ref().is_some_and(|unpolled| unpolled.granted) { "was granted" } else { "has" };
    let part = if matches!(lock.of, SemaphoreOf::Semaphore | SemaphoreOf::Unknown) { "permits of " } else { "" };
    text += &format!("{has} {part}{} {semaphore:#x}\n{}", words::of(lock.of), headed(task, look));
    text += &format!("  {}\n", future_of(&lock.guard));
    for leaf in task.leaves() {
        text += &format!("  waits at {} for {}\n", words::at_leaf(task, leaf), words::leaf(leaf));
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
    use dyntrace_tasks::listing::Listing;

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
            let text = super::text(&Stuck::of(listing), &Look::of_memory(listing.clone()));
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
        assert_eq!(text(&found.without(&Stuck::default()), &look), text(&found, &look));
    }
}
