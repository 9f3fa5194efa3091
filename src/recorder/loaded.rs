//! Modules that are loaded and unloaded while sessions run.

use super::descriptor::ProbeEntry;
use super::modules::{self, Module};
use super::probes;
use super::recording::Recording;
use super::sessions::sessions;

/// A module was loaded. Gives the number by which it is [removed](modules::remove). Blocks while the maintenance thread is in a round.
pub(crate) fn add_module(module: Module) -> u64 {
    let number = modules::add(module);
    // Told before this returns, so before any call into the module fires an event: a reader that goes by time knows the module first. The
    // maintenance thread might be late.
    sessions().recordings.iter_mut().flatten().for_each(Recording::tell_of_modules);
    number
}

/// The probes of a module's version arrive: running sessions record them from now on, if they record such probes.
///
/// # Safety
///
/// They stay until [`remove_probes`] has returned.
pub(crate) unsafe fn add_probes(entries: &'static [ProbeEntry]) {
    if entries.is_empty() {
        return;
    }
    let mut sessions = sessions();
    // SAFETY: as the caller promises.
    let are_new = unsafe { probes::add(entries) };
    for recording in sessions.recordings.iter_mut().flatten() {
        recording.take_in(are_new);
    }
}

/// The probes of a module's version leave: nobody knows them any more when this returns.
///
/// # Safety
///
/// Nobody is in the version's code.
pub(crate) unsafe fn remove_probes(entries: &'static [ProbeEntry]) {
    let _sessions = sessions();
    probes::remove(entries);
}
