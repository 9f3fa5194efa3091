//! Which sites there are: those of the program, and those of libraries that come and go.
//!
//! A library that arrives has [default patterns](crate::trace::Session::set_default) set at its sites before anybody can call its
//! functions: its words are nobody else's yet, so that no step of a setting is needed. Only then others get to know its sites.

pub(crate) mod index;
#[cfg(target_os = "linux")]
pub(crate) mod modules;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::breakpoint::measure::counters;
use crate::breakpoint::progress::progress;
use crate::breakpoint::site::kept::{self, kept};
use crate::breakpoint::site::site_ref::{Library, SiteRef};
use crate::breakpoint::site::sites::Sites;
use crate::breakpoint::site::{Site, section};
use crate::breakpoint::state::data::BpData;
use crate::breakpoint::state::entry::BpEntry;
use crate::breakpoint::state::generic_bp::Bp;
use crate::breakpoint::state::session_core::SessionCore;
use crate::breakpoint::state::set::Set;
use crate::forks::hold_across_forks;
use crate::thread_progress::{self, permission};
use index::Index;

struct Libraries {
    /// Made when it is first asked for.
    index: Option<Arc<Index>>,
    /// But the program's.
    later: Vec<Arc<Later>>,
    defaults: Vec<Default>,
}

/// A library that is there, or about to come.
pub(crate) struct Later {
    library: Arc<Library>,
    sites: &'static [Site],
    /// The same for those who may have them longer than the library is there.
    refs: Arc<[SiteRef]>,
}

/// A pattern that is set at all sites that come.
struct Default {
    session: Weak<SessionCore>,
    set: Arc<Set>,
}

/// A pattern that is to be in force at sites as soon as they are known.
pub(crate) struct Wish {
    pub(crate) session: Arc<SessionCore>,
    pub(crate) set: Arc<Set>,
}

static LIBRARIES: Mutex<Libraries> = Mutex::new(Libraries { index: None, later: Vec::new(), defaults: Vec::new() });

/// After this it is asked anew who is inside. Longer than models run, which know no time.
const PATIENCE: Duration = Duration::from_secs(60);

/// Nothing panics under this lock.
fn libraries() -> MutexGuard<'static, Libraries> {
    counters::prepare();
    hold_across_forks!(Libraries, lock());
    lock()
}

/// `std`'s lock always: models have sites of their own.
fn lock() -> MutexGuard<'static, Libraries> {
    LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Held while no library arrives: what a session has said before is heeded by those that come later, and its list has the sites
/// of those that came before.
pub(crate) fn settled() -> impl Sized {
    libraries()
}

/// All sites that are there now.
pub(crate) fn index() -> Arc<Index> {
    libraries().index()
}

/// The pattern was set at all sites of the index: a default pattern is set at all that come later from now on. False, and nothing
/// is done, if there are others by now than those of the index.
pub(crate) fn settle(session: &Arc<SessionCore>, set: &Arc<Set>, index: &Arc<Index>) -> bool {
    let mut libraries = libraries();
    let is_of_now = Arc::ptr_eq(&libraries.index(), index);
    if is_of_now && set.is_default {
        libraries.defaults.retain(|default| !default.set.is_superseded());
        libraries.defaults.push(Default { session: Arc::downgrade(session), set: Arc::clone(set) });
    }
    is_of_now
}

impl Libraries {
    fn index(&mut self) -> Arc<Index> {
        let index = self.index.get_or_insert_with(|| {
            let program = section::sites().iter().map(SiteRef::of_program);
            let later = self.later.iter().flat_map(|later| &*later.refs).cloned();
            Arc::new(Index::new(program.chain(later).collect()))
        });
        Arc::clone(index)
    }
}

impl Later {
    /// Nobody knows of it yet. Exports are named after the module, if it is one.
    pub(crate) fn new(sites: &'static [Site], module: Option<&str>) -> Arc<Later> {
        kept::prepare();
        let library = Arc::new(Library::new());
        let refs = sites.iter().map(|site| {
            site.keep(kept(site.function(), module));
            SiteRef::of_library(site, &library)
        });
        Arc::new(Later { refs: refs.collect(), library, sites })
    }

    pub(crate) fn sites(&self) -> &'static [Site] {
        self.sites
    }
}

/// The sites of a library arrive: they are known from now on, and default patterns and these `wishes` are in force at them.
///
/// # Safety
///
/// Nobody calls their functions yet. They stay until [`leave`] has returned.
#[cfg_attr(any(not(target_os = "linux"), miri), allow(dead_code, reason = "nobody says there that a library comes"))]
pub(crate) unsafe fn arrive(later: Arc<Later>, mut wishes: Vec<Wish>) {
    let mut libraries = libraries();
    libraries.defaults.retain(|default| default.session.strong_count() > 0 && default.set.latest().is_some());
    let defaults = libraries
        .defaults
        .iter()
        .filter_map(|default| Some(Wish { session: default.session.upgrade()?, set: Arc::clone(&default.set) }));
    wishes.extend(defaults);
    fulfil(&later.refs, &latest(&wishes));
    libraries.index = libraries.index.take().map(|index| Arc::new(index.with(&later.refs)));
    libraries.later.push(later);
    // First: what a session drops that has ended meanwhile takes locks of its own.
    drop(libraries);
    drop(wishes);
}

/// The patterns that are in the place of these by now, each once.
fn latest(wishes: &[Wish]) -> Vec<Wish> {
    let mut latest: Vec<Wish> = Vec::new();
    for Wish { session, set } in wishes {
        if let Some(set) = set.latest()
            && !latest.iter().any(|known| Arc::ptr_eq(&known.set, &set))
        {
            latest.push(Wish { session: Arc::clone(session), set });
        }
    }
    latest
}

/// Has patterns be in force at sites that only the caller knows, who has the lock: see [`settled`].
fn fulfil(sites: &Arc<[SiteRef]>, wishes: &[Wish]) {
    let mut entries: Vec<Vec<BpEntry>> = sites.iter().map(|_| Vec::new()).collect();
    for Wish { session, set } in wishes {
        if session.state.is_over() {
            continue;
        }
        let mut selected = Sites::none_of(sites);
        for (number, (site, entries)) in sites.iter().zip(&mut entries).enumerate() {
            let function = site.function();
            if entries.len() < BpData::ENTRIES
                && set.pattern.selects(function.path(), function.arguments.len())
                && let Ok(counter) = set.name(function)
            {
                entries.push(BpEntry::new(Arc::clone(session), Arc::clone(set), counter));
                selected.push(number);
            }
        }
        set.add_sites(Arc::new(selected));
    }
    for (site, entries) in sites.iter().zip(entries) {
        if let Some(data) = BpData::new(entries) {
            site.with(|site| Bp::born(&data).publish(site));
        }
    }
}

/// The sites of a library leave: when this returns, nobody knows them any more.
///
/// It waits with the thread, for threads that are in the middle of a hit or that change a word: not longer than any setting
/// waits at once.
///
/// # Safety
///
/// Nobody is in their functions, nor calls one.
#[cfg_attr(any(not(target_os = "linux"), miri), allow(dead_code, reason = "nobody says there that a library goes"))]
pub(crate) unsafe fn leave(sites: &'static [Site]) {
    if let Some(library) = forget(sites) {
        free(evict(&library, sites));
    }
}

/// The first of the steps: nobody finds the sites any more who does not know them. `None` if they are not known.
pub(crate) fn forget(sites: &'static [Site]) -> Option<Arc<Library>> {
    let mut libraries = libraries();
    let is_it = |later: &Arc<Later>| later.sites.as_ptr_range() == sites.as_ptr_range();
    let place = libraries.later.iter().position(is_it)?;
    let later = libraries.later.swap_remove(place);
    later.library.mark();
    libraries.index = libraries.index.take().map(|index| Arc::new(index.without_gone()));
    Some(Arc::clone(&later.library))
}

/// Has breakpoints freed that were taken out of their words when nobody was left that knew the sites.
pub(crate) fn free(orphans: Vec<Bp>) {
    if orphans.is_empty() {
        return;
    }
    // Without a thread for it they stay.
    let _ = thread_progress::complete(async move {
        // A setting that is under way may write them, though not into words any more.
        let permission = permission::acquire().await;
        progress().await;
        for orphan in orphans {
            // SAFETY: taken out of its word above. Hits that saw it there have been waited for; a setting that found it has
            // ended, and none frees what it did not take out of a word itself.
            unsafe { orphan.free() }
        }
        drop(permission);
    });
}

/// The three steps: nobody looks at the sites any more when this returns.
pub(crate) fn evict(library: &Library, sites: &[Site]) -> Vec<Bp> {
    library.mark();
    assert!(
        !thread_progress::is_pinned(),
        "unloading a library inside `code::View::with`, which would wait for itself"
    );
    while thread_progress::wait_blocking(PATIENCE).is_err() {}
    sites.iter().filter_map(Bp::take).collect()
}
