//! `--watch`: the changes from one look at the tasks to the next.

use std::collections::HashMap;

use dyntrace_tasks::listing::{Await, Listing, Task, WaitsFor};

use super::words;

/// A line for each task that is new, gone, or waits for something else. Empty if nothing has changed.
pub fn text(before: &Listing, after: &Listing) -> String {
    let name = |task: &Task| format!("task {} {}", words::id(task), words::future(task));
    let old: HashMap<_, _> = before.tasks.iter().map(|task| (key(task), task)).collect();
    let new: HashMap<_, _> = after.tasks.iter().map(|task| (key(task), task)).collect();
    let mut text = String::new();
    for task in before.tasks.iter().filter(|task| !new.contains_key(&key(task))) {
        text += &format!("- {}\n", name(task));
    }
    for task in &after.tasks {
        match old.get(&key(task)) {
            None => text += &format!("+ {}: {}\n", name(task), wait(task)),
            Some(known) => {
                let (before, now) = (wait(known), wait(task));
                if before != now {
                    text += &format!("~ {}: {now}, before: {before}\n", name(task));
                }
            }
        }
    }
    text
}

/// Ids are unique in one tokio, addresses are used again.
fn key(task: &Task) -> (u64, u64) {
    (task.id, task.address)
}

fn wait(task: &Task) -> String {
    let leaves: Vec<String> = words::leaves(task).into_iter().map(leaf).collect();
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
    use crate::tasks::sample;

    #[test]
    fn new_gone_and_changed_tasks() {
        let before = sample::listing();
        assert_eq!(text(&before, &before), "");
        let mut after = before.clone();
        after.tasks.retain(|task| task.id != 3);
        after.tasks.iter_mut().find(|task| task.id == 5).unwrap().state.running = true;
        after.tasks.push(sample::leaf_task(99, WaitsFor::Timer { due_in: 5 }));
        assert_eq!(
            text(&before, &after),
            "- task 3 app::transfer\n\
             ~ task 5 app::transfer: runs, before: waits at src/main.rs:31 for Mutex 0xa0\n\
             + task 99 app::serve: waits at src/main.rs:50 for timer\n"
        );
    }
}
