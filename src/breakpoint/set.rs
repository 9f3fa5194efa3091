//! Patterns of a session, as they were set.

use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Error;
use super::counters::Counter;
use super::data::Flags;
use super::pattern::Pattern;
use super::site::Function;

/// A pattern that was set.
pub(super) struct Set {
    pub(super) pattern: Arc<Pattern>,
    named: Mutex<Named>,
    is_default: AtomicBool,
}

/// The functions that it names, by their addresses, and the counter of each if it counts. By address, since whole names take long to
/// compare where there are thousands, and a function has one address as long as it is known here.
type Named = HashMap<usize, (&'static Function, Option<Arc<Counter>>)>;

impl Set {
    pub(super) fn new(pattern: Pattern) -> Set {
        Set { pattern: Arc::new(pattern), named: Mutex::default(), is_default: AtomicBool::new(false) }
    }

    /// It names this function, too. Answers its counter, if it counts: that of a function that was gone goes on.
    pub(super) fn name(&self, function: &'static Function) -> Result<Option<Arc<Counter>>, Error> {
        let mut named = self.named();
        let address = ptr::from_ref(function).addr();
        if let Some((_, counter)) = named.get(&address) {
            return Ok(counter.clone());
        }
        let counts = Flags::from(self.pattern.match_spec().actions()).intersects(Flags::COUNT | Flags::TIME);
        let counter = counts.then(|| Counter::new().map(Arc::new)).transpose()?;
        named.insert(address, (function, counter.clone()));
        Ok(counter)
    }

    /// How many functions it names, or has named.
    pub(super) fn functions(&self) -> usize {
        self.named().len()
    }

    /// Those of its functions, by name, if it counts.
    pub(super) fn counters(&self) -> Vec<(&'static Function, Arc<Counter>)> {
        let named = self.named();
        let mut counters: Vec<_> =
            named.values().filter_map(|(function, counter)| Some((*function, counter.clone()?))).collect();
        counters.sort_by_key(|(function, _)| *function);
        counters
    }

    /// Nothing panics under this lock.
    fn named(&self) -> MutexGuard<'_, Named> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on it is for functions that are loaded later, too.
    pub(super) fn make_default(&self) {
        self.is_default.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_default(&self) -> bool {
        self.is_default.load(Ordering::Relaxed)
    }
}
