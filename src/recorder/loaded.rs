//! Modules that are loaded and unloaded while sessions run.

use dyntrace_probes::rings::descriptor::ProbeEntry;

use super::modules::{self, Module};
use super::probes;
use super::recording::Recording;
use super::sessions::sessions;

/// Adds a module that was loaded. Returns the number by which it is [removed](modules::remove). Blocks while the maintenance thread is in a
/// round.
pub(crate) fn add_module(module: Module) -> u64 {
    let number = modules::add(module);
    // Not left to the maintenance thread: readers go by time, and must find the module before its first event.
    sessions().recordings.iter_mut().flatten().for_each(Recording::report_modules);
    number
}

/// Adds the probes of a module's version. Running sessions record them if they record such probes.
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
        recording.add_probes(are_new);
    }
}

/// Removes the probes of a module's version: no session refers to them when this returns.
///
/// # Safety
///
/// No thread is in the version's code.
pub(crate) unsafe fn remove_probes(entries: &'static [ProbeEntry]) {
    let _sessions = sessions();
    probes::remove(entries);
}
