//! `dyntrace tree`: the futures of each task, drawn as a tree.

use dyntrace_tasks::listing::{Await, Chain, Guard, Listing, Progress, Task, WaitsFor};

use super::fold::{fold, ids};
use super::words;
use crate::escape;

/// How a leaf is told.
type Leaf = fn(&Await) -> String;

/// The trees of all tasks; one for tasks whose trees differ in times and numbers only.
pub fn text(listing: &Listing) -> String {
    let groups = fold(&listing.tasks, |task| {
        let state = words::state(task);
        format!("{state}\n{}\n{}", words::future(task), lines(task, words::kind).join("\n"))
    });
    groups.iter().map(|group| of_group(group)).collect::<Vec<_>>().join("\n")
}

fn of_group(group: &[&Task]) -> String {
    let bold = anstyle::Style::new().bold();
    let task = group[0];
    let tasks = match group.len() {
        1 => format!("task {}", words::id(task)),
        count => format!("{count} tasks ({})", ids(group)),
    };
    let spawned = match words::spawned(task) {
        place if place == "-" => String::new(),
        place => format!(", spawned at {place}"),
    };
    let mut text = format!("{bold}{tasks}{bold:#}, {}{spawned}\n", words::state(task));
    for line in lines(task, words::leaf) {
        text += &format!("{line}\n");
    }
    text
}

fn lines(task: &Task, leaf: Leaf) -> Vec<String> {
    match &task.chain {
        Chain::Read { root } if task.owner != 0 => {
            let mut lines = Vec::new();
            if task.state.running {
                lines.push("running; before this poll it was here:".to_owned());
            }
            draw(root, leaf, 1, &mut lines);
            lines
        }
        _ => vec![format!("{}, waits for {}", words::future(task), words::without_leaves(task))],
    }
}

/// Adds the lines of `count` equal futures.
fn draw(future: &Await, leaf: Leaf, count: usize, lines: &mut Vec<String>) {
    lines.push(head(future, leaf, count));
    let branches = branches(future, leaf);
    let stem = if branches.is_empty() { "   " } else { "│  " };
    lines.extend(future.holds.iter().map(|held| format!("{stem}holds {}", guard(held))));
    let last = branches.len().saturating_sub(1);
    for (number, branch) in branches.into_iter().enumerate() {
        let (first, others) = if number == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        lines.extend(
            branch.iter().enumerate().map(|(line, text)| format!("{}{text}", if line == 0 { first } else { others })),
        );
    }
}

fn branches(future: &Await, leaf: Leaf) -> Vec<Vec<String>> {
    let drawn = |future: &Await, leaf: Leaf, count: usize| {
        let mut lines = Vec::new();
        draw(future, leaf, count, &mut lines);
        lines
    };
    let groups = fold(&future.awaits, |inner| drawn(inner, words::kind, 1));
    let mut branches: Vec<Vec<String>> = groups.iter().map(|group| drawn(group[0], leaf, group.len())).collect();
    if future.more > 0 {
        branches.push(vec![format!("{} more futures, not read", future.more)]);
    }
    branches
}

fn head(future: &Await, leaf: Leaf, count: usize) -> String {
    let mut line = if count > 1 { format!("{count} x ") } else { String::new() };
    line += &words::type_name(&future.future);
    if let Some(place) = &future.place {
        line += &format!(" at {}", words::place(place));
    }
    line += match future.progress {
        Progress::Unresumed => ", not polled yet",
        Progress::Returned => ", has returned",
        Progress::Panicked => ", has panicked",
        Progress::Unknown | Progress::Suspended => "",
    };
    line += &match &future.waits_for {
        None => String::new(),
        // Its name is there.
        Some(WaitsFor::UnknownLeaf) => ", waits for an unknown event".to_owned(),
        Some(_) => format!(", waits for {}", leaf(future)),
    };
    line
}

fn guard(guard: &Guard) -> String {
    let (variable, semaphore) = (escape::name(&guard.variable), guard.semaphore);
    match &guard.unpolled {
        None => format!("{} in {variable}, of {semaphore:#x}", words::type_name(&guard.guard)),
        Some(unpolled) => {
            let held = if unpolled.granted { "the grant".to_owned() } else { words::type_name(&guard.guard) };
            format!("{held} of {semaphore:#x} in {variable}: {}", words::unpolled(unpolled))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::sample;

    #[test]
    fn trees_of_all_tasks() {
        let text = anstream::adapter::strip_str(&text(&sample::listing())).to_string();
        assert_eq!(text, include_str!("golden/tree.txt"));
    }
}
