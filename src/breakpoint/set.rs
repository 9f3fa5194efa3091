//! Patterns of a session, as they were set.

use std::collections::{HashMap, HashSet};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::Error;
use super::counters::Counter;
use super::data::Flags;
use super::pattern::Pattern;
use super::setting::slice;
use super::site::Function;
use super::sites::Sites;

/// A pattern that was set.
pub(super) struct Set {
    pub(super) pattern: Arc<Pattern>,
    /// Those that it was set at first, where it does not count: a list costs nothing where there are thousands.
    first: OnceLock<Arc<Sites>>,
    named: Mutex<Named>,
    is_default: AtomicBool,
}

/// Other functions that it names, by their addresses, and the counter of each if it counts. By address, since whole names take long to
/// compare where there are thousands, and a function has one address as long as it is known here.
type Named = HashMap<usize, (&'static Function, Option<Arc<Counter>>)>;

impl Set {
    pub(super) fn new(pattern: Pattern) -> Set {
        Set {
            pattern: Arc::new(pattern),
            first: OnceLock::new(),
            named: Mutex::default(),
            is_default: AtomicBool::new(false),
        }
    }

    /// It names the functions of these sites, too. Answers their counters, if it counts.
    pub(super) async fn name_all(&self, sites: &Arc<Sites>) -> Result<Option<Vec<Arc<Counter>>>, Error> {
        if !self.counts() && self.first.set(Arc::clone(sites)).is_ok() {
            return Ok(None);
        }
        let mut counters = Vec::new();
        for (number, site) in sites.iter().enumerate() {
            counters.extend(self.name(site.function())?);
            slice(number).await;
        }
        Ok(self.counts().then_some(counters))
    }

    /// It names this function, too. Answers its counter, if it counts: that of a function that was gone goes on.
    pub(super) fn name(&self, function: &'static Function) -> Result<Option<Arc<Counter>>, Error> {
        let mut named = self.named();
        let address = ptr::from_ref(function).addr();
        if let Some((_, counter)) = named.get(&address) {
            return Ok(counter.clone());
        }
        let counter = self.counts().then(|| Counter::new().map(Arc::new)).transpose()?;
        named.insert(address, (function, counter.clone()));
        Ok(counter)
    }

    fn counts(&self) -> bool {
        Flags::from(self.pattern.match_spec().actions()).intersects(Flags::COUNT | Flags::TIME)
    }

    /// How many functions it names, or has named.
    pub(super) fn functions(&self) -> usize {
        let named = self.named();
        match self.first.get() {
            Some(first) if named.is_empty() => first.len(),
            first => {
                let first = first.into_iter().flat_map(|first| first.iter());
                let first: HashSet<_> = first.map(|site| ptr::from_ref(site.function()).addr()).collect();
                first.len() + named.keys().filter(|address| !first.contains(address)).count()
            }
        }
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
