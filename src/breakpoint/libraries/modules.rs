//! The sites of modules: versions of one arrive, replace each other and leave.
//!
//! A version's sites arrive before anybody can call its functions, so that their words can be written at once: default patterns are in
//! force at its first call, and so are all patterns that are set in the version that it replaces, as far as they name its functions.

use std::sync::Arc;

use super::{Later, Wish};
use crate::breakpoint::libraries;
use crate::breakpoint::progress::progress;
use crate::breakpoint::site::Site;
use crate::breakpoint::state::generic_bp::{Bp, Generation};

/// The sites of a version, and what is known of them before they arrive.
pub(crate) struct Sites(Arc<Later>);

impl Sites {
    /// All that takes time with many of them is done here, and not by [`arrive`], for which others wait.
    pub(crate) fn new(sites: &'static [Site], module: &str) -> Sites {
        Sites(Later::new(sites, Some(module)))
    }
}

/// The sites of a version arrive; `replaced` are those of the version that comes before it.
///
/// # Safety
///
/// The caller has the permission to change what runs. Nobody calls the functions of the version yet; its sites stay until
/// [`leave`] has ended.
pub(crate) unsafe fn arrive(Sites(later): &Sites, replaced: Option<&Sites>) {
    if later.sites().is_empty() {
        return;
    }
    let inherited = replaced.map(|Sites(replaced)| inherited(replaced.sites())).unwrap_or_default();
    // SAFETY: as the caller promises.
    unsafe { libraries::arrive(Arc::clone(later), inherited) }
}

/// [`leave`], with the thread.
///
/// # Safety
///
/// As [`leave`]'s.
pub(crate) unsafe fn leave_blocking(Sites(later): &Sites) {
    // SAFETY: as the caller promises.
    unsafe { libraries::leave(later.sites()) }
}

/// The patterns that are set at any of the sites, each with its session.
fn inherited(sites: &'static [Site]) -> Vec<Wish> {
    let mut wishes: Vec<Wish> = Vec::new();
    for data in sites.iter().filter_map(|site| Bp::of(site)?.with_active(Generation::clone)) {
        for entry in &data.entries {
            if !wishes.iter().any(|wish| Arc::ptr_eq(&wish.set, &entry.set)) {
                wishes.push(Wish { session: Arc::clone(&entry.session), set: Arc::clone(&entry.set) });
            }
        }
    }
    wishes
}

/// The sites of a version leave: when this has ended, nobody knows them any more. If it is dropped before, they must stay.
///
/// # Safety
///
/// Nobody is in the functions of the version, nor calls one.
pub(crate) async unsafe fn leave(Sites(later): &Sites) {
    let sites = later.sites();
    let Some(library) = libraries::forget(sites) else { return };
    progress().await;
    drop(library);
    libraries::free(sites.iter().filter_map(Bp::take).collect());
}
