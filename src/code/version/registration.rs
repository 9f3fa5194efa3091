//! Registers versions with the recorder and the breakpoints: their probes and the sites of their functions.
//!
//! Probes are registered when a version is prepared, so that those of its hooks are recorded. Sites are registered in step 4 of a
//! finish, when the replaced version is known: patterns set there apply to the new version from its first call on.

use super::Version;
use super::tables::{ModuleVersions, TableSet};
use crate::breakpoint::modules;
use crate::recorder::loaded;

/// Registers the probes of a version that is being prepared.
pub(crate) fn prepared(version: &Version) {
    // SAFETY: `leave` or `drop_prepared` comes before its mapping goes.
    unsafe { loaded::add_probes((version.descriptor.probes)()) }
}

/// Step 4 of a finish, with the permission. Default patterns and those of the previous version apply to its functions.
pub(crate) fn stage(set: &TableSet, version: &Version) {
    let ModuleVersions { current, old } = set.modules.get(&version.image.module).cloned().unwrap_or_default();
    let before = current.or(old);
    // SAFETY: its functions are not called before the commit; `leave` or `drop_prepared` comes before its mapping goes.
    unsafe { modules::arrive(&version.sites, before.as_ref().map(|before| &before.sites)) }
}

/// Notes after a commit that a version is old.
pub(crate) fn retire(version: &Version) {
    modules::retire(&version.sites);
}

/// Unregisters a version.
///
/// # Safety
///
/// No thread is inside the version, or can enter it.
pub(crate) async unsafe fn leave(version: &Version) {
    // SAFETY: as the caller promises.
    unsafe {
        modules::leave(&version.sites).await;
        loaded::remove_probes((version.descriptor.probes)());
    }
}

/// Unregisters a version that was never current. Blocks while other threads are inside a hit.
///
/// # Safety
///
/// No thread is inside the version, or can enter it.
pub(crate) unsafe fn drop_prepared(version: &Version) {
    // SAFETY: as the caller promises.
    unsafe {
        modules::leave_blocking(&version.sites);
        loaded::remove_probes((version.descriptor.probes)());
    }
}
