//! The tasks and threads of a tokio program as the commands of [dyntrace](https://docs.rs/dyntrace) show them, read from outside: of a
//! running one, or of the tasks in its core file, or in the table that it has left. They are `dyntrace ps`, `tree`, `why`, `leaks`,
//! `threads`, `polls` and `diagnose`.
#![cfg(target_os = "linux")]
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![allow(missing_docs, reason = "a part of the command, where names tell what items are")]

mod answer;
mod arguments;
mod blocked;
mod changes;
mod choose;
mod dead;
pub mod diagnose;
mod different;
mod fold;
mod groups;
pub mod leaks;
mod look;
mod looks;
mod object;
mod own;
#[cfg(test)]
#[path = "../../cli/tests/common/page.rs"]
mod page;
pub mod polls;
mod ps;
mod read;
#[cfg(test)]
mod sample;
mod streamed;
mod stuck;
pub mod table;
pub mod threads;
mod tree;
mod why;
mod words;

use dyntrace_terminal::columns;
use dyntrace_terminal::exit::{Failure, Outcome};

use read::Look;

pub use arguments::{Ps, Tree, Why};

pub fn ps(arguments: &Ps) -> Outcome {
    if let Some(table) = &arguments.dead {
        return dead::ps(table, arguments.common.json, arguments.all);
    }
    let mut common = arguments.common.clone();
    common.pid = common.pid.or(arguments.process);
    let (common, width) = (&common, columns::terminal_width());
    if !arguments.all && !common.json && common.watch.is_none() {
        return look::once(common, |opened| streamed::text(opened, width));
    }
    look::show(common, None, |look| ps::text(look, arguments.all, width))
}

pub fn tree(arguments: &Tree) -> Outcome {
    let text = |look: &Look| tree::text(look) + &answer::line(&look.told()) + &ps::notes(look);
    look::show(&arguments.common, arguments.chosen.as_ref(), text)
}

pub fn why(arguments: &Why) -> Outcome {
    look::explain(&arguments.common, arguments.dead.as_deref(), arguments.chosen.as_ref(), arguments.cycles)
}

/// [`why_of`] tells the waits of at most so many tasks.
const TOLD: usize = 20;

/// The text of `why` about a process's tasks of a function, named as probes name it.
pub fn why_of(pid: u32, function: &str) -> Result<String, Failure> {
    // Debug information has other words for the closures and async blocks in a function.
    let name = function.split("::{{closure}}").next().unwrap_or(function);
    look::waits_of(pid, name, TOLD)
}
