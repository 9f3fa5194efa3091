//! What is loaded, for people.

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
    /// The one before, until it is purged.
    pub old: Option<VersionInfo>,
}

/// A version of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VersionInfo {
    /// What the module says, for people.
    pub version: Arc<str>,
    /// A number that no other version has in this process; later ones have higher ones.
    pub id: u64,
    /// The file that was loaded.
    pub file: PathBuf,
    /// Where it lies in memory.
    pub range: Range<usize>,
    /// How many functions it exports.
    pub exports: usize,
}

/// All modules that have a current or an old version, by name.
pub fn list() -> Vec<ModuleInfo> {
    of(&tables().look(modules))
}

/// A copy, since a thread that is pinned makes no texts.
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
