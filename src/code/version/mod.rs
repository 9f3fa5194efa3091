//! Versions of modules, and the tables of current and old ones.

pub(crate) mod counters;
pub(crate) mod descriptor;
pub(crate) mod image;
pub(crate) mod inside;
pub(crate) mod prepared;
pub(crate) mod registration;
pub(crate) mod still_mapped;
mod symbols;
pub(crate) mod tables;

use std::ptr;
use std::sync::Arc;

use counters::Counters;
use descriptor::Descriptor;
use dyntrace_probes::thread_progress::UseSlot;
use image::{Image, Mapping};

use crate::breakpoint::modules::Sites;
use crate::code::call::export_entry::{ExportEntry, Target};
use crate::code::call::export_name::ExportName;
use crate::code::call::hold::Hold;
use crate::code::error::Error;

/// A version that is prepared, current or old.
pub(crate) struct Version {
    pub(crate) image: Arc<Image>,
    /// In the module's memory. Valid until the permission holder unmaps it.
    pub(crate) descriptor: &'static Descriptor,
    /// Sorted by the addresses of their entries.
    pub(crate) exports: Vec<Exported>,
    pub(crate) sites: Sites,
    pub(crate) is_unloadable: bool,
    counters: Counters,
}

/// An export of a version.
pub(crate) struct Exported {
    pub(crate) entry: &'static ExportEntry,
    pub(crate) target: Target,
    /// The signature as text.
    pub(crate) signature: String,
}

/// Keeps a version in use until one of its hooks has returned.
pub(crate) struct VersionHold {
    /// Dropped first: a version that is dropped has no holds.
    _hold: Hold,
    pub(crate) version: Arc<Version>,
}

impl Version {
    /// `entry` finds or makes the entry of an export.
    pub(crate) fn new(
        descriptor: &'static Descriptor,
        mapping: Box<dyn Mapping>,
        counters: Counters,
        entry: impl Fn(ExportName) -> &'static ExportEntry,
    ) -> Version {
        let (module, version) = (descriptor.name, descriptor.version);
        let exports = (descriptor.exports)().into_iter().map(|export| {
            let name = ExportName { module: module.into(), name: export.name.into(), signature: export.signature };
            let target = Target { code: export.code, place: counters.place, holds: counters.holds };
            Exported { entry: entry(name), target, signature: (export.signature_text)().to_owned() }
        });
        let mut exports: Vec<Exported> = exports.collect();
        exports.sort_by_key(Exported::address);
        let image = Arc::new(Image::new(module, version, mapping));
        let sites = Sites::new((descriptor.sites)(), module);
        Version { image, descriptor, exports, sites, is_unloadable: descriptor.unloadable.is_some(), counters }
    }

    /// Its exports of this name, of any signature.
    pub(crate) fn exports_of(&self, name: &str) -> impl Iterator<Item = &Exported> {
        self.exports.iter().filter(move |export| export.entry.export().name == name)
    }

    /// The entries of its exports that are not also in `next`.
    pub(crate) fn entries_without<'a>(
        &'a self,
        next: &'a [Exported],
    ) -> impl Iterator<Item = &'static ExportEntry> + 'a {
        let is_gone =
            move |entry: &&ExportEntry| next.binary_search_by_key(&ptr::from_ref(*entry), Exported::address).is_err();
        self.exports.iter().map(|export| export.entry).filter(is_gone)
    }

    /// Where threads inside it are counted.
    pub(crate) fn place(&self) -> UseSlot {
        self.counters.place
    }

    /// The number of futures, borrowed handles and hooks that keep it in use.
    pub(crate) fn holds(&self) -> usize {
        self.counters.holds()
    }

    /// The error of a change that must wait until this old version is purged.
    pub(crate) fn in_the_way(&self, doing: &'static str) -> Error {
        let Image { module, version, .. } = &*self.image;
        Error::OldInUse { doing, module: module.to_string(), old: version.to_string() }
    }
}

impl VersionHold {
    /// The caller keeps the version from being purged or dropped meanwhile.
    pub(crate) fn new(version: &Arc<Version>) -> VersionHold {
        VersionHold { _hold: Hold::new(version.counters.holds), version: Arc::clone(version) }
    }
}

impl Exported {
    fn address(&self) -> *const ExportEntry {
        ptr::from_ref(self.entry)
    }
}
