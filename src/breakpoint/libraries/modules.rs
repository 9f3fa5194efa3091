//! The sites of modules, whose versions arrive, replace each other and leave.
//!
//! A version's sites arrive before any thread can call its functions, so their words are written at once. At its first call the default
//! patterns are in force, and those patterns of the replaced version that select its functions.

use std::sync::Arc;

use super::{LibrarySites, SessionPattern};
use crate::breakpoint::libraries;
use crate::breakpoint::progress::progress;
use crate::breakpoint::site::Site;
use crate::breakpoint::state::generic_bp::{Bp, Generation};

/// The sites of a version.
pub(crate) struct Sites(Arc<LibrarySites>);

impl Sites {
    /// Does the work that takes long with many sites. [`arrive`] is short, since others wait for it.
    pub(crate) fn new(sites: &'static [Site], module: &str) -> Sites {
        Sites(LibrarySites::new(sites, Some(module)))
    }
}

/// Makes the sites of a version known. `replaced` are those of the version before it.
///
/// # Safety
///
/// The caller has the permission. No thread calls the functions of the version yet; its sites stay until [`leave`] has ended.
pub(crate) unsafe fn arrive(Sites(later): &Sites, replaced: Option<&Sites>) {
    if later.sites().is_empty() {
        return;
    }
    let inherited = replaced.map(|Sites(replaced)| inherited(replaced.sites())).unwrap_or_default();
    // SAFETY: as the caller promises.
    unsafe { libraries::arrive(Arc::clone(later), inherited) }
}

/// Notes that the version is old.
pub(crate) fn retire(Sites(later): &Sites) {
    later.library.retire();
}

/// Like [`leave`], blocking the thread.
///
/// # Safety
///
/// That of [`leave`].
pub(crate) unsafe fn leave_blocking(Sites(later): &Sites) {
    // SAFETY: as the caller promises.
    unsafe { libraries::leave(later.sites()) }
}

/// Returns the patterns that are set at any of the sites.
fn inherited(sites: &'static [Site]) -> Vec<SessionPattern> {
    let mut patterns: Vec<SessionPattern> = Vec::new();
    for data in sites.iter().filter_map(|site| Bp::of(site)?.with_active(Generation::clone)) {
        for entry in &data.entries {
            if !patterns.iter().any(|pattern| Arc::ptr_eq(&pattern.set, &entry.set)) {
                patterns.push(SessionPattern { session: Arc::clone(&entry.session), set: Arc::clone(&entry.set) });
            }
        }
    }
    patterns
}

/// Removes the sites of a version: when this completes, no thread uses them. If it is dropped before, they must stay.
///
/// # Safety
///
/// No thread runs the functions of the version or calls one.
pub(crate) async unsafe fn leave(Sites(later): &Sites) {
    let sites = later.sites();
    let Some(library) = libraries::forget(sites) else { return };
    progress().await;
    drop(library);
    libraries::free(sites.iter().filter_map(Bp::take).collect());
}
