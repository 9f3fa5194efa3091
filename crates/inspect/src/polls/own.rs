//! The program's own functions in tasks of which a framework's future is the outermost.

use std::collections::{BTreeMap, BTreeSet};

use dyntrace_tasks::listing::{Chain, Listing};

use crate::own;
use crate::words::of_job;

/// Functions that are shown of each future's.
const SHOWN: usize = 3;

/// The program's own functions, by the names of the outermost futures in whose tasks looks saw them.
#[derive(Debug, Default)]
pub struct OwnFunctions(BTreeMap<String, BTreeSet<String>>);

impl OwnFunctions {
    pub fn add(&mut self, listing: &Listing) {
        for task in &listing.tasks {
            let Chain::Read { root } = &task.chain else { continue };
            let (own, outer) = (of_job(&own::or_self(root).future), of_job(&root.future));
            if own != outer {
                self.0.entry(outer).or_default().insert(own::function(&own));
            }
        }
    }

    /// Those in tasks of this future.
    pub fn of(&self, outermost: &str) -> Vec<String> {
        self.0.get(outermost).into_iter().flatten().cloned().collect()
    }

    /// The future's name, with the first of them before it.
    pub fn before(&self, outermost: &str) -> String {
        let own = self.of(outermost);
        let shown = own.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
        match own.len() {
            0 => outermost.to_owned(),
            1..=SHOWN => format!("{shown} in {outermost}"),
            count => format!("{shown} and {} more in {outermost}", count - SHOWN),
        }
    }
}

#[cfg(test)]
pub mod tests {
    use dyntrace_tasks::listing::{Await, Progress, SourceLine, WaitsFor};

    use super::*;
    use crate::sample::{self, waiting};

    fn future(name: &str, file: &str, inner: Await) -> Await {
        let place = Some(SourceLine { file: file.into(), line: 7 });
        Await { future: name.into(), place, progress: Progress::Suspended, awaits: vec![inner], ..Await::default() }
    }

    /// A task of a framework's future in which a function of the program's waits.
    pub fn carried(outermost: &str, own: &str) -> Listing {
        let own = future(own, "src/main.rs", waiting(WaitsFor::Timer { due_in: 1 }));
        let root = future(outermost, "axum-0.8.9/src/serve.rs", own);
        Listing { tasks: vec![sample::task(1, Chain::Read { root })], ..Listing::default() }
    }

    #[test]
    fn own_functions_stand_before_the_futures_that_carry_them() {
        let mut own = OwnFunctions::default();
        for function in ["shop::refund::{async block}", "shop::order", "shop::cart", "shop::report"] {
            own.add(&carried("axum::serve::handle", function));
        }
        own.add(&carried("shop::stock", "shop::stock"));
        assert_eq!(own.of("axum::serve::handle"), ["shop::cart", "shop::order", "shop::refund", "shop::report"]);
        let shown = "shop::cart, shop::order, shop::refund and 1 more in axum::serve::handle";
        assert_eq!([own.before("axum::serve::handle"), own.before("shop::stock")], [shown, "shop::stock"]);
    }
}
