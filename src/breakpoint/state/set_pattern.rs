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
    /// The changes of its first setting in the session's process filter.
    pub(crate) prepared: OnceLock<Prepared>,
    /// The sites where it may have breakpoints; some more than once.
    sites: Mutex<Vec<Arc<Sites>>>,
    counters: Mutex<Counters>,
    /// Functions that only earlier patterns with its number counted: their counts stay.
    former: Vec<(&'static Function, Arc<Counter>)>,
}

/// The counters of the functions that it names or has named. Keyed by address: comparing thousands of whole names takes long, and each
/// function has one address.
type Counters = HashMap<usize, (&'static Function, Arc<Counter>)>;

/// The number of functions that a pattern names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Functions {
    pub(crate) current: usize,
    /// In old versions of modules.
    pub(crate) old: usize,
}

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
            counters: Mutex::default(),
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
        set.own_counters().extend(counted.into_iter().map(|counted| (address(counted.0), counted)));
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

    /// Makes counters for the functions of these sites, if the pattern counts.
    pub(crate) async fn count_all(&self, sites: &Sites) -> Result<(), Error> {
        if !self.counts() {
            return Ok(());
        }
        for (number, site) in sites.iter().enumerate() {
            self.count(site.function())?;
            give_way(number).await;
        }
        Ok(())
    }

    /// Returns the counter that [`count`](SetPattern::count) made.
    pub(crate) fn counter(&self, function: &'static Function) -> Option<Arc<Counter>> {
        Some(Arc::clone(&self.own_counters().get(&address(function))?.1))
    }

    /// Makes the counter of a function if the pattern counts. For a function that comes back, it is the old one.
    pub(crate) fn count(&self, function: &'static Function) -> Result<Option<Arc<Counter>>, Error> {
        if !self.counts() {
            return Ok(None);
        }
        let mut counters = self.own_counters();
        let counter = match counters.get(&address(function)) {
            Some((_, counter)) => Arc::clone(counter),
            None => Arc::new(Counter::new()?),
        };
        if self.measures_memory() {
            counter.measure_memory()?;
        }
        counters.insert(address(function), (function, Arc::clone(&counter)));
        Ok(Some(counter))
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

    /// Returns the number of functions that it names now.
    pub(crate) fn functions(&self) -> Functions {
        // Each function of the program has one site, which is in one list.
        let mut of_program = 0;
        let mut of_libraries = [HashSet::new(), HashSet::new()];
        for site in self.sites().iter().flat_map(|sites| sites.iter()) {
            if !site.is_of_library() {
                of_program += 1;
            } else if !site.is_gone() {
                of_libraries[usize::from(site.is_old())].insert(site.address());
            }
        }
        let [current, old] = of_libraries.map(|functions| functions.len());
        Functions { current: of_program + current, old }
    }

    /// Returns the functions that it names now, by address, without those of old versions.
    pub(crate) fn current(&self) -> HashSet<usize> {
        let sites = self.sites();
        let current = sites.iter().flat_map(|sites| sites.iter()).filter(|site| !site.is_gone() && !site.is_old());
        current.map(|site| address(site.function())).collect()
    }

    /// Returns the counters by function, also those of earlier patterns with its number.
    pub(crate) fn counters(&self) -> Vec<(&'static Function, Arc<Counter>)> {
        let mut counters: Vec<_> = self.own_counters().values().cloned().collect();
        counters.extend(self.former.iter().cloned());
        counters.sort_by_key(|(function, _)| *function);
        counters
    }

    /// No code panics under this lock.
    fn own_counters(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the identity of a function.
pub(crate) fn address(function: &'static Function) -> usize {
    ptr::from_ref(function).addr()
}
