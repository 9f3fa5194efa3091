//! Patterns that were set.

use std::collections::{HashMap, HashSet};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::flags::Flags;
use super::process_flags::Prepared;
use crate::breakpoint::error::Error;
use crate::breakpoint::measure::counters::Counter;
use crate::breakpoint::pattern::Pattern;
use crate::breakpoint::pattern_id::PatternId;
use crate::breakpoint::site::Function;
use crate::breakpoint::site::sites::{Sites, give_way};

pub(crate) struct SetPattern {
    pub(crate) id: PatternId,
    pub(crate) pattern: Pattern,
    /// Whether it applies to libraries that are loaded later, too.
    pub(crate) is_default: bool,
    /// Whether it was replaced or removed. The session's list has its successor: a reference to that would keep alive every later pattern
    /// with its number as long as one call that began under this one.
    is_superseded: AtomicBool,
    /// What its first setting has changed in the session's process filter.
    pub(crate) prepared: OnceLock<Prepared>,
    /// The sites where it may have breakpoints; some more than once.
    sites: Mutex<Vec<Arc<Sites>>>,
    /// The sites of its first setting, if it does not count: a shared list, where names of thousands would cost.
    first: OnceLock<Arc<Sites>>,
    named: Mutex<Named>,
    /// Functions that only earlier patterns with its number counted: their counts stay.
    former: Vec<(&'static Function, Arc<Counter>)>,
}

/// Further functions that it names, and their counters if it counts. Keyed by address: comparing thousands of whole names takes long, and
/// each function has one address.
type Named = HashMap<usize, (&'static Function, Option<Arc<Counter>>)>;

impl SetPattern {
    pub(crate) fn new(pattern: Pattern, is_default: bool) -> SetPattern {
        SetPattern::numbered(PatternId::next(), pattern, is_default)
    }

    fn numbered(id: PatternId, pattern: Pattern, is_default: bool) -> SetPattern {
        SetPattern {
            id,
            pattern,
            is_default,
            is_superseded: AtomicBool::new(false),
            prepared: OnceLock::new(),
            sites: Mutex::default(),
            first: OnceLock::new(),
            named: Mutex::default(),
            former: Vec::new(),
        }
    }

    /// Makes the pattern that will replace this one. It takes over the counters.
    pub(crate) fn with(&self, pattern: Pattern) -> SetPattern {
        let mut set = SetPattern::numbered(self.id, pattern, self.is_default);
        let is_counted =
            |function: &Function| set.counts() && set.pattern.selects(function.path(), function.arguments.len());
        let (counted, former): (Vec<_>, Vec<_>) =
            self.counters().into_iter().partition(|(function, _)| is_counted(function));
        let named = |(function, counter)| (ptr::from_ref::<Function>(function).addr(), (function, Some(counter)));
        set.named().extend(counted.into_iter().map(named));
        set.former = former;
        set
    }

    /// Notes that the pattern was replaced or removed.
    pub(crate) fn supersede(&self) {
        // Relaxed, as is the load: the session's list says what replaced it, under its lock.
        self.is_superseded.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_superseded(&self) -> bool {
        self.is_superseded.load(Ordering::Relaxed)
    }

    pub(crate) fn add_sites(&self, more: Arc<Sites>) {
        let mut sites = self.sites();
        sites.retain(|sites| !sites.are_gone());
        sites.push(more);
    }

    /// Locks the sites where it may have breakpoints. No code panics under this lock.
    pub(crate) fn sites(&self) -> MutexGuard<'_, Vec<Arc<Sites>>> {
        self.sites.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the functions of these sites.
    pub(crate) async fn name_all(&self, sites: &Arc<Sites>) -> Result<(), Error> {
        if !self.counts() && self.first.set(Arc::clone(sites)).is_ok() {
            return Ok(());
        }
        for (number, site) in sites.iter().enumerate() {
            self.name(site.function())?;
            give_way(number).await;
        }
        Ok(())
    }

    /// Returns the counter of a function that was [added](SetPattern::name), if the pattern counts.
    pub(crate) fn counter(&self, function: &'static Function) -> Option<Arc<Counter>> {
        self.named().get(&ptr::from_ref(function).addr())?.1.clone()
    }

    /// Adds a function. Returns its counter if the pattern counts: for a function that comes back, the old one.
    pub(crate) fn name(&self, function: &'static Function) -> Result<Option<Arc<Counter>>, Error> {
        let mut named = self.named();
        let address = ptr::from_ref(function).addr();
        let counter = match named.get(&address) {
            Some((_, counter)) => counter.clone(),
            None => self.counts().then(|| Counter::new().map(Arc::new)).transpose()?,
        };
        if let Some(counter) = counter.as_ref().filter(|_| self.measures_memory()) {
            counter.measure_memory()?;
        }
        named.insert(address, (function, counter.clone()));
        Ok(counter)
    }

    /// Returns whether it has a counter for each function.
    pub(crate) fn counts(&self) -> bool {
        Flags::from(self.pattern.match_spec().actions()).intersects(Flags::COUNTS)
    }

    /// Returns whether it changes flags of processes.
    pub(crate) fn flags_processes(&self) -> bool {
        self.pattern.match_spec().actions().changes_flags()
    }

    pub(crate) fn measures_memory(&self) -> bool {
        self.pattern.match_spec().actions().memory
    }

    /// Returns the number of functions that it names, or has named.
    pub(crate) fn functions(&self) -> usize {
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

    /// Returns the counters by function, also those of earlier patterns with its number.
    pub(crate) fn counters(&self) -> Vec<(&'static Function, Arc<Counter>)> {
        let named = self.named();
        let mut counters: Vec<_> =
            named.values().filter_map(|(function, counter)| Some((*function, counter.clone()?))).collect();
        counters.extend(self.former.iter().cloned());
        counters.sort_by_key(|(function, _)| *function);
        counters
    }

    /// No code panics under this lock.
    fn named(&self) -> MutexGuard<'_, Named> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
