//! The sequence that makes versions current, in the numbered steps of `code`'s documentation.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::changing::{Abandoned, Changing};
use super::history;
use super::staging::put_in_force;
use crate::code::error::Error;
use crate::code::load::job::{Job, run_job};
use crate::code::load::policy::allowed;
use crate::code::version::descriptor::{ImportDescriptor, ModuleState};
use crate::code::version::prepared::Prepared;
use crate::code::version::tables::{Change, ModuleVersions, TableSet, Tables, tables};
use crate::code::version::{Version, VersionHold, registration};
use crate::permission;

/// Makes versions current: all of them or none, at one instant, while callers keep calling. The current versions of their modules
/// become old. The task waits in line with all other changes of running code, trace settings included.
///
/// # Errors
///
/// Two versions belong to one module; a module has an old version that is not purged; an import is missing; a `state` or `on_upgrade`
/// fails. Then nothing is changed, and the versions are dropped.
///
/// # Cancellation
///
/// If dropped before the commit, it changes nothing; if later, it is completed in the background.
pub async fn finish(prepared: impl IntoIterator<Item = Prepared>) -> Result<(), Error> {
    let prepared = prepared.into_iter().collect();
    Changing::new(|abandoned| sequence(tables(), prepared, abandoned)).await
}

pub(crate) async fn sequence(
    tables: &'static Tables,
    prepared: Vec<Prepared>,
    abandoned: Abandoned,
) -> Result<(), Error> {
    let permission = permission::acquire().await; // 1
    let versions: Vec<&Arc<Version>> = prepared.iter().map(Prepared::version).collect();
    let replaced: Vec<Option<Arc<Version>>> = tables.with_permission(&permission, |set| {
        check(set, &versions)?; // 2
        Ok::<_, Error>(versions.iter().map(|version| set.current(&version.image.module).cloned()).collect())
    })?;
    for (version, old) in versions.iter().zip(&replaced) {
        if let Some(old) = old {
            hand_over(old, version).await?; // 2
        }
    }
    let changes = tables.with_permission(&permission, |set| changes(set, &versions));
    tables.with_permission(&permission, |set| versions.iter().for_each(|version| registration::stage(set, version))); // 4
    if put_in_force(tables, &permission, changes, &abandoned).await {
        replaced.iter().flatten().for_each(|old| registration::retire(old));
        for (version, replaced) in versions.iter().zip(&replaced) {
            history::finished(&version.image, replaced.as_ref().map(|old| &*old.image)); // 7
        }
        prepared.into_iter().for_each(Prepared::committed);
    }
    drop(permission); // 8
    Ok(())
}

/// Step 2.
fn check(set: &TableSet, versions: &[&Arc<Version>]) -> Result<(), Error> {
    let mut named = BTreeSet::new();
    for version in versions {
        let module = &version.image.module;
        if !named.insert(module) {
            return Err(Error::Twice { module: module.to_string() });
        }
        if let Some(ModuleVersions { current: Some(_), old: Some(old) }) = set.modules.get(module) {
            return Err(old.in_the_way("finish"));
        }
    }
    for version in versions {
        for import in (version.descriptor.imports)() {
            let of_these = versions.iter().find(|version| *version.image.module == *import.module).copied();
            check_import(version, import, of_these.or_else(|| set.current(import.module)))?;
        }
    }
    Ok(())
}

fn check_import(by: &Version, import: &ImportDescriptor, exporter: Option<&Arc<Version>>) -> Result<(), Error> {
    let mut of_name = exporter.iter().flat_map(|exporter| exporter.exports_of(import.name)).peekable();
    let has = of_name.peek().map(|export| export.signature.clone());
    match of_name.find(|export| export.entry.export().signature == import.signature) {
        Some(_) => Ok(()),
        None => Err(Error::Import {
            by: by.image.to_string(),
            module: import.module.into(),
            export: import.name.into(),
            wanted: (import.signature_text)().into(),
            has,
        }),
    }
}

/// Step 2 of a finish: passes the old version's state to the new one.
///
/// # Errors
///
/// A hook fails, panics or does not return in time.
async fn hand_over(old: &Arc<Version>, new: &Arc<Version>) -> Result<(), Error> {
    match new.descriptor.on_upgrade {
        Some(on_upgrade) => run_job("code-upgrade", allowed()?.patience, upgrade(old, new, on_upgrade)).await,
        None => Ok(()),
    }
}

/// Returns the blocking work of a hand-over. Both versions are in use from now on: the finish may fail at any time, and drop the new one.
pub(crate) fn upgrade(
    old: &Arc<Version>,
    new: &Arc<Version>,
    on_upgrade: fn(ModuleState) -> Result<(), String>,
) -> impl FnOnce(&Job<()>) -> Result<(), Error> + Send + use<> {
    let state = old.descriptor.state.map(|state| (state, VersionHold::new(old)));
    let new = VersionHold::new(new);
    move |job| {
        let state = match state {
            Some((state, old)) => job.hook("state", old, state)?,
            None => ModuleState::default(),
        };
        Ok(job.hook("on_upgrade", new, move || on_upgrade(state))?)
    }
}

/// The changes that make these versions current.
fn changes(set: &TableSet, versions: &[&Arc<Version>]) -> Vec<Change> {
    let mut changes = Vec::new();
    for &version in versions {
        let Version { image, exports, .. } = &**version;
        let ModuleVersions { current, old } = set.modules.get(&image.module).cloned().unwrap_or_default();
        changes.extend(
            current
                .iter()
                .flat_map(|current| current.entries_without(exports))
                .map(|entry| Change::Export(entry, None)),
        );
        changes.extend(exports.iter().map(|export| Change::Export(export.entry, Some(export.target))));
        changes.push(Change::Range(image.mapping.range().start, Some(Arc::clone(image))));
        let after = ModuleVersions { current: Some(Arc::clone(version)), old: current.or(old) };
        changes.push(Change::Module(Arc::clone(&image.module), after));
    }
    changes
}
