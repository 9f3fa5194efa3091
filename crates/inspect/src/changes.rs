//! `--watch`: the changes from one look at the tasks to the next.

use std::collections::HashMap;

use dyntrace_task_table::TaskEntry;
use dyntrace_tasks::listing::{Await, Task, WaitsFor};

use super::read::Look;
use super::table::row;
use super::words;

/// A line for each task that is new, gone, or waits for something else. Empty if nothing has changed.
pub fn text(before: &Look, after: &Look) -> String {
    let (before, after) = (tasks(before), tasks(after));
    let old: HashMap<_, _> = before.iter().map(|task| (task.key, task)).collect();
    let new: HashMap<_, _> = after.iter().map(|task| (task.key, task)).collect();
    let mut text = String::new();
    for task in before.iter().filter(|task| !new.contains_key(&task.key)) {
        text += &format!("- {}\n", task.name);
    }
    for TaskWords { key, name, wait } in &after {
        match old.get(key) {
            None => text += &format!("+ {name}: {wait}\n"),
            Some(known) if known.wait != *wait => text += &format!("~ {name}: {wait}, before: {}\n", known.wait),
            Some(_) => {}
        }
    }
    text
}

/// A task in words that stay the same while it waits for the same.
struct TaskWords {
    key: Key,
    name: String,
    wait: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    /// Ids are unique in one tokio, addresses are used again.
    InMemory(u64, u64),
    /// Its pid.
    InTable(u64),
}

fn tasks(look: &Look) -> Vec<TaskWords> {
    let in_memory = look.listing.tasks.iter().map(|task| TaskWords {
        key: Key::InMemory(task.id, task.address),
        name: format!("task {} {}", words::id(task), words::future(task)),
        wait: wait(task),
    });
    let in_table = look.others().map(|(_, seen)| TaskWords {
        key: Key::InTable(seen.task.pid),
        name: format!("task {} {}", row::pid(seen.task.pid), row::function(seen)),
        wait: wait_of_table(seen),
    });
    in_memory.chain(in_table).collect()
}

/// Without times, which are different at each look.
fn wait_of_table(seen: &TaskEntry) -> String {
    match &seen.wait {
        None => row::state(seen).to_owned(),
        Some(wait) => {
            let (operation, place) = row::texts(wait.site.as_ref());
            format!("waits at {place} in {operation} {}", row::shown_resource(seen))
        }
    }
}

fn wait(task: &Task) -> String {
    let leaves: Vec<String> = task.leaves().into_iter().map(leaf).collect();
    let waits = if leaves.is_empty() { words::without_leaves(task).to_owned() } else { leaves.join(" and ") };
    match task.state {
        state if state.complete => waits,
        state if state.running => "runs".to_owned(),
        _ => format!("waits at {} for {waits}", words::at(task)),
    }
}

/// Without the time of a timer and the permits of a lock, which are different at each look.
fn leaf(future: &Await) -> String {
    match &future.waits_for {
        Some(WaitsFor::Timer { .. } | WaitsFor::Semaphore { .. }) => words::kind(future),
        _ => words::leaf(future),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn new_gone_and_changed_tasks() {
        let before = Look::of_memory(sample::listing());
        assert_eq!(text(&before, &before), "");
        let mut after = before.listing.clone();
        after.tasks.retain(|task| task.id != 3);
        after.tasks.iter_mut().find(|task| task.id == 5).unwrap().state.running = true;
        after.tasks.push(sample::leaf_task(99, WaitsFor::Timer { due_in: 5 }));
        assert_eq!(
            text(&before, &Look::of_memory(after)),
            "- task 3 app::transfer\n\
             ~ task 5 app::transfer: runs, before: waits at src/main.rs:31 for Mutex 0xa0\n\
             + task 99 app::serve: waits at src/main.rs:50 for timer\n"
        );
    }

    #[test]
    fn tasks_in_the_table_only() {
        let (before, mut after) = (sample::look_at_table(), sample::look_at_table());
        after.kept.iter_mut().for_each(|kept| kept.keep(|seen| seen.task.pid != 71));
        assert_eq!(text(&before, &after), "- task <0.71.0> app::serve\n");
        assert_eq!(
            text(&after, &before),
            "+ task <0.71.0> app::serve: waits at src/main.rs:31 in Mutex::lock #Ref<0.12>\n"
        );
    }
}
