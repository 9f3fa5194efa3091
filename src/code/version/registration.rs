//! What the recorder and the breakpoints know of versions: their probes and the sites of their functions.
//!
//! Probes are known from the moment that a version is prepared, so that those of its hooks are recorded. Sites become known while
//! the version is put in force, when it is certain what it replaces: what is traced there is traced in it, from its first call on.

use super::Version;
use super::tables::{ModuleVersions, TableSet};
use crate::breakpoint::modules;
use crate::recorder::loaded;

/// A version is being prepared.
pub(crate) fn prepared(version: &Version) {
    // SAFETY: `leave` or `drop_prepared` comes before its mapping goes.
    unsafe { loaded::add_probes((version.descriptor.probes)()) }
}

/// Step 4 of a finish, by who has the permission: its functions are traced as its patterns, and those of the version before it, say.
pub(crate) fn stage(set: &TableSet, version: &Version) {
    let ModuleVersions { current, old } = set.modules.get(&version.image.module).cloned().unwrap_or_default();
    let before = current.or(old);
    // SAFETY: nobody calls its functions before the commit; `leave` or `drop_prepared` comes before its mapping goes.
    unsafe { modules::arrive(&version.sites, before.as_ref().map(|before| &before.sites)) }
}

/// Nobody knows it any more when this has ended.
///
/// # Safety
///
/// Nobody is inside of the version, nor comes in.
pub(crate) async unsafe fn leave(version: &Version) {
    // SAFETY: as the caller promises.
    unsafe {
        modules::leave(&version.sites).await;
        loaded::remove_probes((version.descriptor.probes)());
    }
}

/// The same for one that was never in force, with the thread: for as long as others are in the middle of a hit.
///
/// # Safety
///
/// Nobody is inside of the version, nor comes in.
pub(crate) unsafe fn drop_prepared(version: &Version) {
    // SAFETY: as the caller promises.
    unsafe {
        modules::leave_blocking(&version.sites);
        loaded::remove_probes((version.descriptor.probes)());
    }
}
