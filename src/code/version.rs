//! Versions of modules, and where they lie in memory.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::descriptor::Descriptor;
use super::entry::{Entry, ExportName, Target};
use super::error::Error;
use super::kept;
use super::locks;
use super::symbols::Symbols;
use super::tables::{Change, Tables};
use crate::breakpoint::modules::Sites;
use crate::recorder::{loaded, modules};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard, global, lock};
use crate::thread_progress::{PLACES, Place};

/// A library in memory, as the dynamic linker has it.
pub(crate) trait Mapping: Send + Sync {
    /// The addresses that its segments lie between.
    fn range(&self) -> Range<usize>;

    /// What is to be subtracted from an address to get the one that the file gives it.
    fn bias(&self) -> usize;

    /// The file that is mapped: the version's own copy.
    fn path(&self) -> &Path;

    /// The file that it is a copy of, as the program named it.
    fn source(&self) -> &Path;

    /// Takes it out of memory, if nothing stands against that: then it is gone, and so are the module's descriptor and all that its
    /// statics hold. Called once at most.
    ///
    /// # Safety
    ///
    /// Nobody runs its code or uses anything of it, now or later.
    unsafe fn unmap(&self) -> Unmapped;
}

/// What came of unmapping a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unmapped {
    /// It is not in memory any more.
    Gone,
    /// Something keeps it, such as destructors of thread-local values.
    Kept,
}

/// A version as it lies in memory, which it may do for longer than it is a version that anybody can call.
pub(crate) struct Image {
    pub(super) id: u64,
    pub(super) module: Arc<str>,
    /// For people.
    pub(super) version: Arc<str>,
    pub(super) mapping: Box<dyn Mapping>,
    pub(super) symbols: Symbols,
    /// Its number among those that recorded traces are told of.
    recorded: u64,
}

/// A version that is prepared, current or old.
pub(crate) struct Version {
    pub(super) image: Arc<Image>,
    /// The module's: there until it is unmapped, which who has the permission does.
    pub(super) descriptor: &'static Descriptor,
    /// By their entries' addresses.
    pub(super) exports: Vec<Exported>,
    pub(super) sites: Sites,
    pub(super) is_unloadable: bool,
    room: Room,
}

/// An export of a version.
pub(super) struct Exported {
    pub(super) entry: &'static Entry,
    pub(super) target: Target,
    /// The signature, for people.
    pub(super) signature: String,
}

/// A place that is this version's alone, and the count of what holds it for longer than a call.
struct Room {
    place: Place,
    holds: &'static AtomicUsize,
}

/// Keeps a version from being purged, for as long as a future or a borrowed handle lives.
pub(super) struct Hold(&'static AtomicUsize);

/// Rooms that nobody has, and how many there are in all.
pub(super) struct Rooms {
    free: Vec<(Place, &'static AtomicUsize)>,
    all: u32,
}

global! {
    static ROOMS: Mutex<Rooms> = Mutex::new(Rooms { free: Vec::new(), all: 0 });
}

/// See [`locks`].
pub(super) fn rooms() -> MutexGuard<'static, Rooms> {
    lock(&ROOMS)
}

impl Version {
    /// # Errors
    ///
    /// There are as many versions as there can be.
    pub(super) fn new(
        descriptor: &'static Descriptor,
        mapping: Box<dyn Mapping>,
        tables: &'static Tables,
    ) -> Result<Version, Error> {
        let room = Room::take().inspect_err(|_| {
            // SAFETY: nothing of it is in use yet.
            unsafe { kept::discard(descriptor, &*mapping) };
        })?;
        let (module, version) = (descriptor.name, descriptor.version);
        let exports = (descriptor.exports)().into_iter().map(|export| {
            let name = ExportName { module: module.into(), name: export.name.into(), signature: export.signature };
            let target = Target { code: export.code, place: room.place, holds: room.holds };
            Exported { entry: Entry::of(tables, name), target, signature: (export.signature_text)().to_owned() }
        });
        let mut exports: Vec<Exported> = exports.collect();
        exports.sort_by_key(Exported::address);
        let image = Arc::new(Image::new(module, version, mapping));
        let sites = Sites::new((descriptor.sites)(), module);
        Ok(Version { image, descriptor, exports, sites, is_unloadable: descriptor.unloadable.is_some(), room })
    }

    /// Those of this name, with whatever signature.
    pub(super) fn exports_of(&self, name: &str) -> impl Iterator<Item = &Exported> {
        self.exports.iter().filter(move |export| export.entry.export().name == name)
    }

    /// What takes its exports out of force, but for those that `next` takes the place of.
    pub(super) fn leave(&self, next: &[Exported]) -> impl Iterator<Item = Change> {
        let is_gone =
            move |entry: &&Entry| next.binary_search_by_key(&ptr::from_ref(*entry), Exported::address).is_err();
        self.exports.iter().map(|export| export.entry).filter(is_gone).map(|entry| Change::Export(entry, None))
    }

    pub(super) fn place(&self) -> Place {
        self.room.place
    }

    /// Keeps it for as long as one of its hooks runs.
    pub(super) fn hold(&self) -> Hold {
        Hold::new(self.room.holds)
    }

    /// How many futures and borrowed handles keep it.
    pub(super) fn holds(&self) -> usize {
        // Acquires what was done until they were dropped.
        self.room.holds.load(Ordering::Acquire)
    }
}

impl Exported {
    fn address(&self) -> *const Entry {
        ptr::from_ref(self.entry)
    }
}

impl Image {
    pub(super) fn new(module: &str, version: &str, mapping: Box<dyn Mapping>) -> Image {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let id = LAST.fetch_add(1, Relaxed) + 1;
        let symbols = Symbols::of(mapping.path());
        let recorded = loaded::add_module(recorded(module, version, &*mapping));
        Image { id, module: module.into(), version: version.into(), mapping, symbols, recorded }
    }

    /// Once at most.
    ///
    /// # Safety
    ///
    /// As [`Mapping::unmap`]'s.
    pub(super) unsafe fn unmap(&self) -> Unmapped {
        // SAFETY: as the caller promises.
        let unmapped = unsafe { self.mapping.unmap() };
        if unmapped == Unmapped::Gone {
            modules::remove(self.recorded);
        }
        unmapped
    }
}

/// What recorded traces are told of a version, so that they can be read when it is gone.
fn recorded(module: &str, version: &str, mapping: &dyn Mapping) -> modules::Module {
    let range = mapping.range();
    modules::Module {
        name: module.to_owned(),
        version: version.to_owned(),
        file: mapping.source().to_owned(),
        mapped: mapping.path().to_owned(),
        start: range.start as u64,
        size: range.len() as u64,
    }
}

impl Room {
    fn take() -> Result<Room, Error> {
        locks::prepare();
        let mut rooms = rooms();
        let (place, holds) = match rooms.free.pop() {
            Some(room) => room,
            None if rooms.all as usize == PLACES => return Err(Error::TooManyVersions { most: PLACES }),
            None => {
                rooms.all += 1;
                (Place(rooms.all - 1), &*Box::leak(Box::new(AtomicUsize::new(0))))
            }
        };
        Ok(Room { place, holds })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        debug_assert_eq!(self.holds.load(Ordering::Relaxed), 0, "whoever keeps a version has it");
        rooms().free.push((self.place, self.holds));
    }
}

impl Hold {
    /// By who is inside, or pinned.
    pub(super) fn new(holds: &'static AtomicUsize) -> Hold {
        // Relaxed: the end of the stay, or of the pin, releases it.
        holds.fetch_add(1, Ordering::Relaxed);
        Hold(holds)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.module, self.version)
    }
}
