//! All sites: those of the program, and those of libraries that are loaded and unloaded.
//!
//! A library that arrives has [default patterns](crate::trace::Session::set_default) set at its sites before any thread can call its
//! functions. No other thread uses its words yet, so the steps of a setting are not needed. Its sites become known afterwards.

pub(crate) mod index;
#[cfg(target_os = "linux")]
pub(crate) mod modules;
mod paths;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use dyntrace_probes::forks::hold_across_forks;
use dyntrace_probes::thread_progress;

use crate::breakpoint::measure::counters;
use crate::breakpoint::progress::progress;
use crate::breakpoint::site::intern::{self, intern};
use crate::breakpoint::site::site_ref::{Library, SiteRef};
use crate::breakpoint::site::sites::Sites;
use crate::breakpoint::site::{Site, section};
use crate::breakpoint::state::data::BpData;
use crate::breakpoint::state::entry::BpEntry;
use crate::breakpoint::state::generic_bp::Bp;
use crate::breakpoint::state::session_core::SessionCore;
use crate::breakpoint::state::set_pattern::SetPattern;
use crate::permission;
use index::Index;

struct Libraries {
    index: Option<Arc<Index>>,
    later: Vec<Arc<LibrarySites>>,
    defaults: Vec<DefaultPattern>,
}

/// The sites of a library that is loaded or about to be loaded.
pub(crate) struct LibrarySites {
    library: Arc<Library>,
    sites: &'static [Site],
    /// References that may outlive the library.
    refs: Arc<[SiteRef]>,
}

/// A pattern that is set at all sites that arrive.
struct DefaultPattern {
    session: Weak<SessionCore>,
    set: Arc<SetPattern>,
}

/// A pattern and its session, to be set at arriving sites.
pub(crate) struct SessionPattern {
    pub(crate) session: Arc<SessionCore>,
    pub(crate) set: Arc<SetPattern>,
}

static LIBRARIES: Mutex<Libraries> = Mutex::new(Libraries { index: None, later: Vec::new(), defaults: Vec::new() });

/// The time after which a wait for thread progress starts again. Models have no clock, and are shorter.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest wait for thread progress when the program ends.
const PATIENCE_AT_EXIT: Duration = Duration::from_secs(1);

/// No code panics under this lock.
fn libraries() -> MutexGuard<'static, Libraries> {
    counters::prepare();
    hold_across_forks!(Libraries, lock());
    lock()
}

/// Always `std`'s lock: models have sites of their own.
fn lock() -> MutexGuard<'static, Libraries> {
    LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps libraries from arriving while it is held. Libraries that arrive later see the session's changes made before; the lists of sites
/// have those of earlier ones.
pub(crate) fn settled() -> impl Sized {
    libraries()
}

pub(crate) fn index() -> Arc<Index> {
    libraries().index()
}

/// Has the pattern set at all sites that arrive from now on. Returns the index of those before.
pub(crate) fn announce(session: &Arc<SessionCore>, set: &Arc<SetPattern>) -> Arc<Index> {
    let mut libraries = libraries();
    libraries.defaults.retain(|default| !default.set.is_superseded());
    libraries.defaults.push(DefaultPattern { session: Arc::downgrade(session), set: Arc::clone(set) });
    libraries.index()
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

impl LibrarySites {
    /// Prepares sites that are not known yet. Exports get the name of the module, if there is one.
    pub(crate) fn new(sites: &'static [Site], module: Option<&str>) -> Arc<LibrarySites> {
        intern::prepare();
        let library = Arc::new(Library::new());
        let refs = sites.iter().map(|site| {
            site.set_function(intern(site.function(), module));
            SiteRef::of_library(site, &library)
        });
        Arc::new(LibrarySites { refs: refs.collect(), library, sites })
    }

    pub(crate) fn sites(&self) -> &'static [Site] {
        self.sites
    }
}

/// Makes the sites of a library known, with the default patterns and these `patterns` in force.
///
/// # Safety
///
/// No thread calls their functions yet. They stay until [`leave`] has returned.
#[cfg_attr(any(not(target_os = "linux"), miri), allow(dead_code, reason = "only Linux reports loaded libraries"))]
pub(crate) unsafe fn arrive(later: Arc<LibrarySites>, mut patterns: Vec<SessionPattern>) {
    let mut libraries = libraries();
    libraries.defaults.retain(|default| {
        let Some(session) = default.session.upgrade() else { return false };
        let pattern = SessionPattern { session, set: Arc::clone(&default.set) };
        let is_set = pattern.latest().is_some();
        patterns.push(pattern);
        is_set
    });
    set_at(&later.refs, &latest(&patterns));
    libraries.index = libraries.index.take().map(|index| Arc::new(index.with(&later.refs)));
    libraries.later.push(later);
    // First: dropping a session that has ended meanwhile takes locks of its own.
    drop(libraries);
    drop(patterns);
}

impl SessionPattern {
    /// Returns the pattern that has its number now, or `None` if that was removed or the session is over.
    fn latest(&self) -> Option<Arc<SetPattern>> {
        // First: in a forked child, the lock of a session of its parent may be locked for ever.
        if self.session.state.is_over() {
            return None;
        }
        self.session.find(self.set.id).ok()
    }
}

/// Returns the current successors of these patterns, without duplicates.
fn latest(patterns: &[SessionPattern]) -> Vec<SessionPattern> {
    let mut latest: Vec<SessionPattern> = Vec::new();
    for pattern in patterns {
        if let Some(set) = pattern.latest()
            && !latest.iter().any(|known| Arc::ptr_eq(&known.set, &set))
        {
            latest.push(SessionPattern { session: Arc::clone(&pattern.session), set });
        }
    }
    latest
}

/// Sets patterns at sites that only the caller knows. The caller has the lock: see [`settled`].
fn set_at(sites: &Arc<[SiteRef]>, patterns: &[SessionPattern]) {
    let mut entries: Vec<Vec<BpEntry>> = sites.iter().map(|_| Vec::new()).collect();
    for SessionPattern { session, set } in patterns {
        if session.state.is_over() {
            continue;
        }
        let mut selected = Sites::none_of(sites);
        for (number, (site, entries)) in sites.iter().zip(&mut entries).enumerate() {
            let function = site.function();
            if entries.len() < BpData::ENTRIES
                && set.pattern.selects(function.path(), function.arguments.len())
                && let Ok(counter) = set.count(function)
            {
                entries.push(BpEntry::new(Arc::clone(session), Arc::clone(set), counter));
                selected.push(number);
            }
        }
        set.add_sites(Arc::new(selected));
    }
    for (site, entries) in sites.iter().zip(entries) {
        if let Some(data) = BpData::new(entries) {
            site.with(|site| Bp::in_force(&data).publish(site));
        }
    }
}

/// Removes the sites of a library: when this returns, no thread uses them. Blocks as long as other threads are in the middle of a hit or
/// change a word.
///
/// # Safety
///
/// No thread runs their functions or calls one.
#[cfg_attr(any(not(target_os = "linux"), miri), allow(dead_code, reason = "only Linux reports unloaded libraries"))]
pub(crate) unsafe fn leave(sites: &'static [Site]) {
    if forget(sites).is_some() {
        free(evict(sites));
    }
}

/// Removes the sites of a library when the program ends, which leaves the library mapped. Blocks for a second at most, once for all
/// libraries: a thread in the middle of a hit may never get on, and the thread that ends the program may be pinned itself. If the wait
/// fails, the breakpoints stay in the words.
#[cfg_attr(any(not(target_os = "linux"), miri), allow(dead_code, reason = "only Linux reports loaded libraries"))]
pub(crate) fn leave_at_exit(sites: &'static [Site]) {
    // Relaxed: the thread that ends the program is the only one here.
    static HAS_FAILED: AtomicBool = AtomicBool::new(false);
    if forget(sites).is_none() || HAS_FAILED.load(Ordering::Relaxed) {
        return;
    }
    match thread_progress::wait_blocking(PATIENCE_AT_EXIT) {
        Ok(_) => free(take(sites)),
        Err(_) => HAS_FAILED.store(true, Ordering::Relaxed),
    }
}

/// Step 1 (see [`site_ref`](crate::breakpoint::site::site_ref)): marks the sites, and removes them from the index. Returns `None` if they
/// are not known.
pub(crate) fn forget(sites: &'static [Site]) -> Option<Arc<Library>> {
    let mut libraries = libraries();
    let is_it = |later: &Arc<LibrarySites>| later.sites.as_ptr_range() == sites.as_ptr_range();
    let place = libraries.later.iter().position(is_it)?;
    let later = libraries.later.swap_remove(place);
    later.library.mark();
    libraries.index = libraries.index.take().map(|index| Arc::new(index.without_gone()));
    Some(Arc::clone(&later.library))
}

/// Frees breakpoints that were taken out of their words, in the background.
pub(crate) fn free(orphans: Vec<Bp>) {
    if orphans.is_empty() {
        return;
    }
    // Without a thread for it they leak.
    let _ = thread_progress::complete(async move {
        // A running setting may still write them, but not into words.
        let permission = permission::acquire().await;
        progress().await;
        for orphan in orphans {
            // SAFETY: in no word any more. Hits that saw it there were waited for; a setting that found it has ended, and frees only
            // breakpoints that it took out of words itself.
            unsafe { orphan.free() }
        }
        drop(permission);
    });
}

/// Steps 2 and 3: waits for thread progress, and takes the breakpoints out of the words. The caller has marked the library.
pub(crate) fn evict(sites: &[Site]) -> Vec<Bp> {
    assert!(
        !thread_progress::is_pinned(),
        "cannot unload a library inside `code::View::with`: the unloading would wait for itself"
    );
    while thread_progress::wait_blocking(PATIENCE).is_err() {}
    take(sites)
}

fn take(sites: &[Site]) -> Vec<Bp> {
    sites.iter().filter_map(Bp::take).collect()
}
