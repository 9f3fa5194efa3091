//! Waits of processes for other nodes.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dyntrace_processes::task_table;
use dyntrace_processes::waiting::Waited;

/// A node, for which a process waits.
pub(super) struct OtherNode<'n> {
    node: &'n str,
    kind: &'static str,
}

impl<'n> OtherNode<'n> {
    /// `kind`: the operation, for tracers.
    pub(super) fn new(node: &'n str, kind: &'static str) -> OtherNode<'n> {
        OtherNode { node, kind }
    }
}

impl Waited for OtherNode<'_> {
    fn key(&self) -> task_table::Resource {
        task_table::Resource::Named(kept(self.node))
    }

    fn kind(&self) -> &'static str {
        self.kind
    }
}

/// The most names of nodes that are kept.
const LIMIT: usize = 1024;
/// The name of further nodes.
const FURTHER: &str = "another node";

type Names = BTreeSet<&'static str>;

/// Names of nodes for which a process waited while a tracer or the table of tasks looked.
static NAMES: Mutex<Names> = Mutex::new(Names::new());

fn names() -> MutexGuard<'static, Names> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same name, which lives as long as the program: the table of tasks refers to it.
fn kept(name: &str) -> &'static str {
    dyntrace_probes::forks::hold_across_forks!(Names, names());
    let mut names = names();
    if let Some(known) = names.get(name) {
        return known;
    }
    if names.len() >= LIMIT {
        return FURTHER;
    }
    let new: &'static str = String::leak(name.to_owned());
    names.insert(new);
    new
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    #[test]
    fn a_name_is_kept_once_and_there_is_a_limit() {
        assert!(ptr::eq(kept("waits@127.0.0.1"), kept(&String::from("waits@127.0.0.1"))));
        let many: BTreeSet<&str> = (0..2 * LIMIT).map(|number| kept(&format!("waits-{number}@127.0.0.1"))).collect();
        assert!(many.len() <= LIMIT && many.contains(FURTHER));
        assert_eq!(kept("waits@127.0.0.1"), "waits@127.0.0.1");
    }
}
