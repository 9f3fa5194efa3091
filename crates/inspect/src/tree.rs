//! `dyntrace tree`: the futures of each task, drawn as a tree.

use dyntrace_task_table::TaskEntry;
use dyntrace_tasks::listing::{Await, Chain, Guard, Progress, Task, WaitsFor};
use dyntrace_terminal::escape;

use super::fold::{fold, ids, summary};
use super::read::Look;
use super::table::{TaskGroup, row};
use super::words;

/// How leaves of one kind are told.
type Leaf = fn(&[&Await]) -> String;

/// The kind of leaves, without their differences.
const KIND: Leaf = |futures| words::kind(futures[0]);

/// The trees of all tasks; one for tasks whose trees differ in times and numbers only.
pub fn text(look: &Look) -> String {
    let groups = fold(&look.listing.tasks, |task| {
        let state = words::state(task);
        let tree = format!("{state}\n{}\n{}", words::future(task), lines(&[task], KIND).join("\n"));
        (tree, look.row(task).map(row::alike))
    });
    let in_memory = groups.iter().map(|group| of_group(look, group));
    in_memory.chain(of_table(look)).collect::<Vec<_>>().join("\n")
}

/// Tasks that are in the table only.
fn of_table(look: &Look) -> Vec<String> {
    let Some(kept) = &look.kept else { return Vec::new() };
    let bold = anstyle::Style::new().bold();
    let groups = fold(kept.others(), |seen| (row::alike(seen), row::state(seen)));
    let text = |group: &Vec<&TaskEntry>| {
        let tasks = words::counted(group.len(), "task");
        format!(
            "{bold}{tasks}{bold:#} in the table only, {}\n{}\n",
            row::state(group[0]),
            TaskGroup::of_all(group, kept.times()).line()
        )
    };
    groups.iter().map(text).collect()
}

fn of_group(look: &Look, group: &[&Task]) -> String {
    let bold = anstyle::Style::new().bold();
    let task = group[0];
    let tasks = match group.len() {
        1 => format!("task {}", words::id(task)),
        count => format!("{count} tasks ({})", ids(group)),
    };
    // The table knows better than candidates.
    let is_known = look.row(task).is_some() && !words::is_spawn_recorded(task);
    let spawned = match words::spawned(task) {
        place if place == "-" || is_known => String::new(),
        place => format!(", spawned at {place}"),
    };
    let mut text = format!("{bold}{tasks}{bold:#}, {}{spawned}\n", words::state(task));
    text.extend(look.line(group).map(|row| row + "\n"));
    for line in lines(group, summary) {
        text += &format!("{line}\n");
    }
    text
}

/// Draws tasks whose trees are alike as one.
fn lines(tasks: &[&Task], leaf: Leaf) -> Vec<String> {
    let task = tasks[0];
    match &task.chain {
        Chain::Read { .. } if task.owner != 0 => {
            let mut lines = Vec::new();
            if task.state.running {
                lines.push("running; before this poll it was here:".to_owned());
            }
            let roots: Vec<&Await> = tasks.iter().filter_map(|task| root_of(task)).collect();
            draw(&roots, leaf, 1, &mut lines);
            lines
        }
        _ => vec![format!("{}, waits for {}", words::future(task), words::without_leaves(task))],
    }
}

fn root_of(task: &Task) -> Option<&Await> {
    match &task.chain {
        Chain::Read { root } => Some(root),
        _ => None,
    }
}

fn drawn(futures: &[&Await], leaf: Leaf, count: usize) -> Vec<String> {
    let mut lines = Vec::new();
    draw(futures, leaf, count, &mut lines);
    lines
}

/// Adds the lines of futures that are alike, of which each task has `count`.
fn draw(futures: &[&Await], leaf: Leaf, count: usize, lines: &mut Vec<String>) {
    let future = futures[0];
    lines.push(head(futures, leaf, count));
    let branches = branches(futures, leaf);
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

fn branches(futures: &[&Await], leaf: Leaf) -> Vec<Vec<String>> {
    // Futures that are alike have groups that are alike, in the same order.
    let mut merged = alike(futures[0]);
    let counts: Vec<usize> = merged.iter().map(Vec::len).collect();
    for future in &futures[1..] {
        for (all, group) in merged.iter_mut().zip(alike(future)) {
            all.extend(group);
        }
    }
    let mut branches: Vec<_> = merged.iter().zip(counts).map(|(group, count)| drawn(group, leaf, count)).collect();
    let more = futures[0].more;
    if more > 0 {
        branches.push(vec![format!("{more} more futures, not read")]);
    }
    branches
}

/// Groups the futures within a future that are alike.
fn alike(future: &Await) -> Vec<Vec<&Await>> {
    match &future.awaits[..] {
        [only] => vec![vec![only]],
        several => fold(several, |inner| drawn(&[inner], KIND, 1)),
    }
}

fn head(futures: &[&Await], leaf: Leaf, count: usize) -> String {
    let future = futures[0];
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
        Some(_) => format!(", waits for {}", leaf(futures)),
    };
    line
}

fn guard(guard: &Guard) -> String {
    let (variable, semaphore) = (escape::name(&guard.variable), guard.semaphore);
    match &guard.unpolled {
        None => {
            let taken = words::taken(guard);
            format!("{} in {variable}, of {semaphore:#x}{taken}", words::type_name(&guard.guard))
        }
        Some(unpolled) => {
            let held = if unpolled.granted { "the grant".to_owned() } else { words::type_name(&guard.guard) };
            format!("{held} of {semaphore:#x} in {variable}: {}", words::unpolled(unpolled))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn trees_of_all_tasks() {
        let text = anstream::adapter::strip_str(&text(&Look::of_memory(sample::listing()))).to_string();
        assert_eq!(text, include_str!("golden/tree.txt"));
    }

    #[test]
    fn trees_of_a_program_with_a_table() {
        for (look, golden) in [
            (sample::look(), include_str!("golden/tree-table.txt")),
            (sample::look_at_table(), include_str!("golden/tree-table-alone.txt")),
        ] {
            assert_eq!(anstream::adapter::strip_str(&text(&look)).to_string(), golden);
        }
    }
}
