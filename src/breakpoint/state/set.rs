//! Patterns of a session, as they were set.

use std::collections::{HashMap, HashSet};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::flags::Flags;
use crate::breakpoint::error::Error;
use crate::breakpoint::measure::counters::Counter;
use crate::breakpoint::pattern::Pattern;
use crate::breakpoint::pattern_id::PatternId;
use crate::breakpoint::site::Function;
use crate::breakpoint::site::sites::{Sites, give_way};

/// A pattern that was set.
pub(crate) struct Set {
    pub(crate) id: PatternId,
    pub(crate) pattern: Pattern,
    /// Whether it is for functions that are loaded later, too.
    pub(crate) is_default: bool,
    /// The pattern that has its number now; `None` if it was removed. Empty as long as it has the number itself.
    superseded: OnceLock<Option<Arc<Set>>>,
    /// Where it may have breakpoints; some sites more than once.
    sites: Mutex<Vec<Arc<Sites>>>,
    /// Those that it was set at first, where it does not count: a list costs nothing where there are thousands.
    first: OnceLock<Arc<Sites>>,
    named: Mutex<Named>,
    /// Functions that it does not count, of patterns that had its number before: what was counted in them stays.
    former: Vec<(&'static Function, Arc<Counter>)>,
}

/// Other functions that it names, by their addresses, and the counter of each if it counts. By address, since whole names take long to
/// compare where there are thousands, and a function has one address as long as it is known here.
type Named = HashMap<usize, (&'static Function, Option<Arc<Counter>>)>;

impl Set {
    pub(crate) fn new(pattern: Pattern, is_default: bool) -> Set {
        Set::numbered(PatternId::next(), pattern, is_default)
    }

    fn numbered(id: PatternId, pattern: Pattern, is_default: bool) -> Set {
        Set {
            id,
            pattern,
            is_default,
            superseded: OnceLock::new(),
            sites: Mutex::default(),
            first: OnceLock::new(),
            named: Mutex::default(),
            former: Vec::new(),
        }
    }

    /// One that is to come in its place. Functions that both count go on being counted.
    pub(crate) fn with(&self, pattern: Pattern) -> Set {
        let mut set = Set::numbered(self.id, pattern, self.is_default);
        let is_counted =
            |function: &Function| set.counts() && set.pattern.selects(function.path(), function.arguments.len());
        let (counted, former): (Vec<_>, Vec<_>) =
            self.counters().into_iter().partition(|(function, _)| is_counted(function));
        let named = |(function, counter)| (ptr::from_ref::<Function>(function).addr(), (function, Some(counter)));
        set.named().extend(counted.into_iter().map(named));
        set.former = former;
        set
    }

    /// From now on another pattern has its number, or none.
    pub(crate) fn supersede(&self, by: Option<Arc<Set>>) {
        // A second call has nothing to say: the pattern was taken off the session's list by the first one.
        let _ = self.superseded.set(by);
    }

    /// Whether it is to be in force no more.
    pub(crate) fn is_superseded(&self) -> bool {
        self.superseded.get().is_some()
    }

    /// The pattern that has its number now: itself, as long as none came in its place. `None` if that was removed.
    pub(crate) fn latest(self: &Arc<Set>) -> Option<Arc<Set>> {
        let mut latest = Arc::clone(self);
        while let Some(next) = latest.superseded.get().cloned() {
            latest = next?;
        }
        Some(latest)
    }

    /// It may have breakpoints there, too.
    pub(crate) fn add_sites(&self, more: Arc<Sites>) {
        let mut sites = self.sites();
        sites.retain(|sites| !sites.are_gone());
        sites.push(more);
    }

    /// Where it may have breakpoints. Nothing panics under this lock.
    pub(crate) fn sites(&self) -> MutexGuard<'_, Vec<Arc<Sites>>> {
        self.sites.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It names the functions of these sites, too. Answers their counters, if it counts.
    pub(crate) async fn name_all(&self, sites: &Arc<Sites>) -> Result<Option<Vec<Arc<Counter>>>, Error> {
        if !self.counts() && self.first.set(Arc::clone(sites)).is_ok() {
            return Ok(None);
        }
        let mut counters = Vec::new();
        for (number, site) in sites.iter().enumerate() {
            counters.extend(self.name(site.function())?);
            give_way(number).await;
        }
        Ok(self.counts().then_some(counters))
    }

    /// It names this function, too. Answers its counter, if it counts: that of a function that was gone goes on.
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

    fn counts(&self) -> bool {
        Flags::from(self.pattern.match_spec().actions()).intersects(Flags::COUNTS)
    }

    /// Whether it adds up what calls allocate.
    pub(crate) fn measures_memory(&self) -> bool {
        self.pattern.match_spec().actions().memory
    }

    /// How many functions it names, or has named.
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

    /// The functions that it counts, by name, and those that others had counted that had its number.
    pub(crate) fn counters(&self) -> Vec<(&'static Function, Arc<Counter>)> {
        let named = self.named();
        let mut counters: Vec<_> =
            named.values().filter_map(|(function, counter)| Some((*function, counter.clone()?))).collect();
        counters.extend(self.former.iter().cloned());
        counters.sort_by_key(|(function, _)| *function);
        counters
    }

    /// Nothing panics under this lock.
    fn named(&self) -> MutexGuard<'_, Named> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
