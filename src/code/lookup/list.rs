//! A list of loaded modules, for display.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crate::code::version::Version;
use crate::code::version::tables::{ModuleVersions, TableSet, tables};

/// A module that has a version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModuleInfo {
    /// Its name.
    pub name: Arc<str>,
    /// The version that calls enter.
    pub current: Option<VersionInfo>,
    /// The previous version, until it is purged.
    pub old: Option<VersionInfo>,
}

/// A version of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VersionInfo {
    /// The version as the module names it.
    pub version: Arc<str>,
    /// A number that is unique in this process and higher for later versions.
    pub id: u64,
    /// The file that was loaded.
    pub file: PathBuf,
    /// Its addresses in memory.
    pub range: Range<usize>,
    /// The number of functions that it exports.
    pub exports: usize,
}

/// Returns all modules that have a current or an old version, sorted by name.
pub fn list() -> Vec<ModuleInfo> {
    of(&tables().look(modules))
}

/// Copies the table, since pinned threads should not build strings.
pub(crate) fn modules(set: &TableSet) -> Vec<(Arc<str>, ModuleVersions)> {
    set.modules.iter().map(|(name, module)| (Arc::clone(name), module.clone())).collect()
}

pub(crate) fn of(modules: &[(Arc<str>, ModuleVersions)]) -> Vec<ModuleInfo> {
    let info = |version: &Option<Arc<Version>>| version.as_deref().map(VersionInfo::of);
    let of_one = |(name, module): &(Arc<str>, ModuleVersions)| ModuleInfo {
        name: Arc::clone(name),
        current: info(&module.current),
        old: info(&module.old),
    };
    modules.iter().map(of_one).collect()
}

impl VersionInfo {
    fn of(version: &Version) -> VersionInfo {
        let Version { image, exports, .. } = version;
        VersionInfo {
            version: Arc::clone(&image.version),
            id: image.id,
            file: image.mapping.source().to_owned(),
            range: image.mapping.range(),
            exports: exports.len(),
        }
    }
}
