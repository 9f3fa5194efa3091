//! Deleting and purging: versions go from current to old, and from old to unreachable or unmapped.

use std::sync::Arc;
use std::time::Duration;

use dyntrace_probes::thread_progress::nap;

use super::changing::{Abandoned, Changing};
use super::history;
use super::staging::put_in_force;
use crate::breakpoint::progress::progress;
use crate::code::error::Error;
use crate::code::version::image::Unmapped;
use crate::code::version::inside::Inside;
use crate::code::version::tables::{Change, ModuleVersions, Tables, tables};
use crate::code::version::{Version, registration, still_mapped};
use crate::permission;

/// The shortest and the longest pause between two checks of the counters.
const PAUSES: [Duration; 2] = [Duration::from_micros(50), Duration::from_millis(10)];

/// The result of a purge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purged {
    /// There was no old version.
    Nothing,
    /// The version is unreachable. It stays mapped, and is [counted](still_mapped::kept).
    Kept,
    /// The version is unmapped.
    Unloaded,
}

/// Makes the current version of a module old. Its exports are missing from then on; running calls continue.
///
/// # Errors
///
/// No version is current, or an old one is not purged.
///
/// # Cancellation
///
/// If dropped before the commit, it changes nothing; if later, it is completed in the background.
pub async fn delete(module: &str) -> Result<(), Error> {
    let module = module.to_owned();
    Changing::new(|abandoned| deletion(tables(), module, abandoned)).await
}

/// Waits until no thread is inside the module's old version, and no future or borrowed handle of it lives; then makes it unreachable.
/// It stays mapped, unless its module is [`Unloadable`](crate::code::Unloadable).
///
/// # Errors
///
/// There is no such module.
///
/// # Cancellation
///
/// If dropped while it waits, it changes nothing; if after the commit, it is completed in the background.
pub async fn purge(module: &str) -> Result<Purged, Error> {
    let module = module.to_owned();
    Changing::new(|abandoned| purging(tables(), module, PurgeMode::PATIENT, abandoned)).await
}

/// [Purges](purge) a module's old version if it is not in use.
///
/// # Errors
///
/// There is no such module, or the version is in use.
///
/// # Cancellation
///
/// As [`purge`]'s.
pub async fn soft_purge(module: &str) -> Result<Purged, Error> {
    let module = module.to_owned();
    Changing::new(|abandoned| purging(tables(), module, PurgeMode { waits: false, ..PurgeMode::PATIENT }, abandoned))
        .await
}

/// [Purges](purge) a module's old version and unmaps it, even if its module is not unloadable. If the system keeps it mapped, it is
/// counted.
///
/// # Safety
///
/// Nothing of the version is in use after its functions have returned: no thread that it started, no value that refers to its code or
/// statics, no destructor of a thread-local value.
///
/// # Errors
///
/// As [`purge`]'s.
///
/// # Cancellation
///
/// As [`purge`]'s.
pub async unsafe fn unload(module: &str) -> Result<Purged, Error> {
    let module = module.to_owned();
    Changing::new(|abandoned| purging(tables(), module, PurgeMode { unloads: true, ..PurgeMode::PATIENT }, abandoned))
        .await
}

/// How an old version is purged.
#[derive(Clone, Copy)]
pub(crate) struct PurgeMode {
    pub(crate) waits: bool,
    /// Unmaps even if the module is not unloadable.
    pub(crate) unloads: bool,
}

impl PurgeMode {
    pub(crate) const PATIENT: PurgeMode = PurgeMode { waits: true, unloads: false };
}

pub(crate) async fn deletion(tables: &'static Tables, module: String, abandoned: Abandoned) -> Result<(), Error> {
    let permission = permission::acquire().await;
    let before = tables.with_permission(&permission, |set| set.modules.get(&*module).cloned());
    let (current, old) = match before.unwrap_or_default() {
        ModuleVersions { current: Some(current), old } => (current, old),
        _ => return Err(Error::NoModule { doing: "delete", module, which: "current" }),
    };
    if let Some(old) = old {
        return Err(old.in_the_way("delete"));
    }
    let mut changes: Vec<Change> = current.entries_without(&[]).map(|entry| Change::Export(entry, None)).collect();
    let after = ModuleVersions { current: None, old: Some(Arc::clone(&current)) };
    changes.push(Change::Module(Arc::clone(&current.image.module), after));
    if put_in_force(tables, &permission, changes, &abandoned).await {
        registration::retire(&current);
        history::deleted(&current.image);
    }
    Ok(())
}

pub(crate) async fn purging(
    tables: &'static Tables,
    module: String,
    mode: PurgeMode,
    abandoned: Abandoned,
) -> Result<Purged, Error> {
    let Some(ModuleVersions { old, .. }) = tables.look(|set| set.modules.get(&*module).cloned()) else {
        return Err(Error::NoModule { doing: "purge", module, which: "loaded" });
    };
    let Some(old) = old else { return Ok(Purged::Nothing) };
    progress().await; // 1
    let [mut pause, longest] = PAUSES;
    loop {
        let inside = Inside::of(&old); // 2
        if inside.is_empty() {
            break;
        }
        if !mode.waits {
            let (module, old) = (module.to_string(), old.image.version.to_string());
            return Err(Error::InUse { module, old, inside: inside.to_string() });
        }
        if abandoned.is_so() {
            return Ok(Purged::Nothing);
        }
        nap(pause).await;
        pause = (2 * pause).min(longest);
    }
    retire(tables, &old, mode.unloads || old.is_unloadable, abandoned).await
}

/// Steps 3 and 4, for an old version that is not in use.
async fn retire(
    tables: &'static Tables,
    old: &Arc<Version>,
    unloads: bool,
    abandoned: Abandoned,
) -> Result<Purged, Error> {
    let permission = permission::acquire().await;
    let name = &old.image.module;
    let before = tables.with_permission(&permission, |set| set.modules.get(name).cloned().unwrap_or_default());
    if !before.old.is_some_and(|now| Arc::ptr_eq(&now, old)) {
        return Ok(Purged::Nothing); // another purge was faster
    }
    let after = ModuleVersions { current: before.current, old: None };
    let changes = vec![Change::Module(Arc::clone(name), after)];
    if !put_in_force(tables, &permission, changes, &abandoned).await {
        return Ok(Purged::Nothing);
    }
    history::purged(&old.image);
    if !unloads {
        still_mapped::count();
        return Ok(Purged::Kept);
    }
    progress().await; // 4
    // SAFETY: no thread is inside or can enter, and threads that found it in the tables have been waited for. Its module, or the
    // caller, has promised that nothing of it is in use elsewhere.
    let unmapped = unsafe {
        registration::leave(old).await;
        old.image.unmap()
    };
    if unmapped == Unmapped::Kept {
        still_mapped::count();
        return Ok(Purged::Kept);
    }
    let gone = vec![Change::Range(old.image.mapping.range().start, None)];
    put_in_force(tables, &permission, gone, &Abandoned::default()).await;
    Ok(Purged::Unloaded)
}
