//! Modules loaded while the program runs. Each session's low-rate channel lists them: events may name addresses in a module that is
//! unloaded when the trace is read.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dyntrace_probes::forks::hold_across_forks;

/// The number of unloaded modules kept for sessions that have not listed them yet. Sessions list modules many times a second.
const GONE: usize = 256;

/// A version of a module, as traces name it.
#[derive(Debug)]
pub(crate) struct Module {
    /// Its name.
    pub name: String,
    /// Its version, for people.
    pub version: String,
    /// The file it was loaded from.
    pub file: PathBuf,
    /// The mapped file, a private copy; tools name the module's addresses by it.
    pub mapped: PathBuf,
    /// Its address.
    pub start: u64,
    /// Its size in memory, in bytes.
    pub size: u64,
}

struct Modules {
    /// In the order in which they were loaded.
    all: VecDeque<NumberedModule>,
    last: u64,
}

struct NumberedModule {
    /// Counted from 1.
    number: u64,
    module: Arc<Module>,
    is_gone: bool,
}

static MODULES: Mutex<Modules> = Mutex::new(Modules { all: VecDeque::new(), last: 0 });

fn modules() -> MutexGuard<'static, Modules> {
    MODULES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a module that was loaded. Returns the number by which it is [removed](remove).
pub(super) fn add(module: Module) -> u64 {
    hold_across_forks!(Modules, modules());
    modules().add(module)
}

/// Marks a module as unloaded.
pub(crate) fn remove(number: u64) {
    modules().remove(number);
}

/// The modules loaded after the one with that number, with their numbers.
pub(super) fn after(number: u64) -> Vec<(u64, Arc<Module>)> {
    modules().after(number)
}

impl Modules {
    fn add(&mut self, module: Module) -> u64 {
        self.last += 1;
        self.all.push_back(NumberedModule { number: self.last, module: Arc::new(module), is_gone: false });
        self.last
    }

    fn remove(&mut self, number: u64) {
        if let Ok(at) = self.all.binary_search_by_key(&number, |known| known.number) {
            self.all[at].is_gone = true;
        }
        if self.all.iter().filter(|known| known.is_gone).count() > GONE {
            let oldest = self.all.iter().position(|known| known.is_gone);
            oldest.and_then(|at| self.all.remove(at));
        }
    }

    fn after(&self, number: u64) -> Vec<(u64, Arc<Module>)> {
        let from = self.all.partition_point(|known| known.number <= number);
        self.all.range(from..).map(|known| (known.number, Arc::clone(&known.module))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(name: String) -> Module {
        let (file, mapped) = ("a.so".into(), "b.so".into());
        Module { name, version: "1".into(), file, mapped, start: 0x1000, size: 0x100 }
    }

    #[test]
    fn those_that_are_gone_are_remembered_for_a_while() {
        let mut modules = Modules { all: VecDeque::new(), last: 0 };
        let stays = modules.add(module("stays".into()));
        for number in 0..2 * GONE {
            let number = modules.add(module(number.to_string()));
            modules.remove(number);
        }
        let known = modules.after(0);
        assert_eq!(known.len(), 1 + GONE);
        assert_eq!((known[0].0, known[0].1.name.as_str()), (stays, "stays"));
        assert_eq!(known.last().unwrap().1.name, (2 * GONE - 1).to_string());
        assert_eq!(modules.after(modules.last - 1).len(), 1);
        assert!(modules.after(modules.last).is_empty());
        modules.remove(17_000);
        assert_eq!(modules.after(0).len(), 1 + GONE);
    }
}
