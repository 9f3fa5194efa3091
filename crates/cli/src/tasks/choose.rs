//! The tasks that the user asked for.

use anyhow::{Result, anyhow, bail};
use dyntrace_tasks::listing::{Await, Chain, Listing, Task};

use super::read::Target;
use super::words;
use crate::escape;

/// A task by its id, or tasks by the names of their futures.
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
    /// Keeps only the chosen tasks in the listing; may leave none.
    pub fn keep(&self, listing: &mut Listing) {
        listing.tasks.retain(|task| self.has(task));
    }

    fn has(&self, task: &Task) -> bool {
        match self {
            Chosen::Task(id) => task.id == *id,
            Chosen::Named(part, pattern) => {
                let matches =
                    |name: &str| pattern.as_ref().map_or_else(|| name.contains(part), |pattern| pattern.matches(name));
                let in_chain = matches!(&task.chain, Chain::Read { root } if any(root, &matches));
                in_chain || matches(&words::future(task))
            }
        }
    }

    /// Fails if the listing has no such task.
    pub fn check(&self, target: &Target<'_>, listing: &Listing) -> Result<()> {
        if listing.tasks.iter().any(|task| self.has(task)) {
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

fn any(future: &Await, matches: &impl Fn(&str) -> bool) -> bool {
    matches(&future.future) || future.awaits.iter().any(|inner| any(inner, matches))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::tasks::sample;

    fn kept(text: &str) -> Vec<u64> {
        let mut listing = sample::listing();
        parse(text).unwrap().keep(&mut listing);
        listing.tasks.iter().map(|task| task.id).collect()
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
        let error =
            |text| parse(text).unwrap().check(&Target::Process(4711), &sample::listing()).unwrap_err().to_string();
        assert_eq!(
            error("99"),
            "process 4711 has no task 99: it may have ended; dyntrace ps -p 4711 --all lists the tasks"
        );
        let (core, exe) = (Path::new("core.1"), Path::new("server"));
        let of_core = Chosen::Task(99).check(&Target::Core { core, exe }, &sample::listing()).unwrap_err().to_string();
        assert!(of_core.ends_with("dyntrace ps --core core.1 --exe server --all lists the tasks"), "{of_core}");
        assert!(error("\x1b").contains(r"a name like \x1b: dyntrace ps -p 4711"));
    }
}
