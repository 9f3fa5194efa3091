//! The tasks that the user asked for.

use anyhow::{Result, anyhow, bail};
use dyntrace_task_table::TaskEntry;
use dyntrace_tasks::listing::{Await, Chain, Listing, Task};
use dyntrace_terminal::escape;

use super::read::{Look, Target};
use super::table::row::pid;
use super::words;

/// A task by its id, or tasks by the names of their futures, their tags or their pids.
#[derive(Clone, Debug)]
pub enum Chosen {
    Task(u64),
    /// A part of a name, or a pattern for the whole of it.
    Named(String, Option<glob::Pattern>),
}

/// Parses TASK|PATTERN.
pub fn parse(text: &str) -> Result<Chosen, String> {
    if let Ok(id) = text.parse() {
        return Ok(Chosen::Task(id));
    }
    let pattern = match text.contains(['*', '?', '[']) {
        true => Some(glob::Pattern::new(text).map_err(|error| format!("wrong pattern: {error}"))?),
        false => None,
    };
    Ok(Chosen::Named(text.to_owned(), pattern))
}

impl Chosen {
    /// Keeps only the chosen tasks; may leave none.
    pub fn keep(&self, look: &mut Look) {
        let Look { listing: Listing { tasks, .. }, kept, .. } = look;
        tasks.retain(|task| self.has(task, kept.as_ref().and_then(|kept| kept.of_task(task))));
        if let Some(kept) = kept {
            kept.keep(|seen| self.has_of_table(seen));
        }
    }

    /// Whether a task in memory, which may also be in the table, is chosen.
    pub fn has(&self, task: &Task, seen: Option<&TaskEntry>) -> bool {
        match self {
            Chosen::Task(id) => task.id == *id,
            Chosen::Named(part, pattern) => {
                let matches = |name: &str| is_named(name, part, pattern.as_ref());
                let in_chain = matches!(&task.chain, Chain::Read { root } if any(root, &matches));
                in_chain || matches(&words::future(task)) || seen.is_some_and(|seen| self.has_of_table(seen))
            }
        }
    }

    /// Whether a task of the table is chosen.
    pub fn has_of_table(&self, seen: &TaskEntry) -> bool {
        match self {
            Chosen::Task(id) => u64::from(seen.task.id) == *id & u64::from(u32::MAX) && seen.task.id != 0,
            Chosen::Named(part, pattern) => {
                let function = seen.site.as_ref().map(|site| &*site.first);
                let names = function.into_iter().chain(seen.tag.as_deref());
                pid(seen.task.pid) == *part || names.into_iter().any(|name| is_named(name, part, pattern.as_ref()))
            }
        }
    }

    /// Fails if no such task was found.
    pub fn check(&self, target: &Target<'_>, look: &Look) -> Result<()> {
        let in_memory = look.listing.tasks.iter().any(|task| self.has(task, look.row(task)));
        if in_memory || look.others().any(|(_, seen)| self.has_of_table(seen)) {
            return Ok(());
        }
        match self {
            Chosen::Task(id) => {
                let options = target.options();
                bail!("{target} has no task {id}: it may have ended; dyntrace ps {options} --all lists the tasks")
            }
            Chosen::Named(part, _) => Err(anyhow!(
                "no future of {target} has a name like {}: dyntrace ps {} lists the names; a pattern with * must match the \
                 whole name",
                escape::name(part),
                target.options()
            )),
        }
    }
}

fn is_named(name: &str, part: &str, pattern: Option<&glob::Pattern>) -> bool {
    pattern.map_or_else(|| name.contains(part), |pattern| pattern.matches(name))
}

fn any(future: &Await, matches: &impl Fn(&str) -> bool) -> bool {
    matches(&future.future) || future.awaits.iter().any(|inner| any(inner, matches))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::sample;

    fn kept(text: &str) -> Vec<u64> {
        let mut look = Look::of_memory(sample::listing());
        parse(text).unwrap().keep(&mut look);
        look.listing.tasks.iter().map(|task| task.id).collect()
    }

    #[test]
    fn tasks_by_id_part_and_pattern() {
        assert_eq!(kept("3"), [3]);
        assert_eq!(kept("app::transfer"), [3, 5]);
        assert_eq!(kept("app::trans*"), [3, 5]);
        assert_eq!(kept("trans*"), [] as [u64; 0]);
        assert!(parse("a[").is_err());
    }

    #[test]
    fn an_unknown_task_is_an_error_with_a_way_out() {
        let look = Look::of_memory(sample::listing());
        let error = |text| parse(text).unwrap().check(&Target::Process(4711), &look).unwrap_err().to_string();
        assert_eq!(
            error("99"),
            "process 4711 has no task 99: it may have ended; dyntrace ps -p 4711 --all lists the tasks"
        );
        let (core, exe) = (Path::new("core.1"), Path::new("server"));
        let of_core = Chosen::Task(99).check(&Target::Core { core, exe }, &look).unwrap_err().to_string();
        assert!(of_core.ends_with("dyntrace ps --core core.1 --exe server --all lists the tasks"), "{of_core}");
        assert!(error("\x1b").contains(r"a name like \x1b: dyntrace ps -p 4711"));
    }

    #[test]
    fn tasks_of_a_table_by_tag_function_and_pid() {
        let kept = |text: &str| {
            let mut look = sample::look();
            parse(text).unwrap().keep(&mut look);
            let others: Vec<u64> = look.others().map(|(_, seen)| seen.task.pid).collect();
            (look.listing.tasks.iter().map(|task| task.id).collect::<Vec<_>>(), others)
        };
        assert_eq!(kept("transfer 1"), (vec![3], vec![]));
        assert_eq!(kept("<0.58.0>"), (vec![5], vec![]));
        assert_eq!(kept("<0.71.0>"), (vec![], vec![71]));
        // Its name in the table: memory has none.
        assert!(kept("app::serve").0.contains(&21));
        assert_eq!(kept("3"), (vec![3], vec![70]));
    }
}
