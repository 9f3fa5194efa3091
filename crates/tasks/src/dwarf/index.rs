//! One pass over all entries: where functions, types and vtables are. Units are spread over threads.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use gimli::{AttributeValue, Operation, constants};

use super::entries::{At, Entry};
use super::limits;
use super::paths::{PathId, Paths};
use super::units::Units;

/// The names of the structures of tokio that describe tasks, each in a module of `tokio::runtime::task`.
const STRUCTURES: [(&[u8], &[u8]); 3] = [(b"core", b"Header"), (b"core", b"Trailer"), (b"raw", b"Vtable")];

/// The result of the pass. Offsets are those of [`Units`]; lists are sorted, so that the order of threads does not matter.
pub(super) struct Index<'a> {
    pub paths: Paths<'a>,
    /// Types, and the path that each lies in.
    pub types: Vec<(usize, PathId)>,
    /// Functions by their first address.
    pub functions: Vec<(u64, usize)>,
    /// Vtables of trait objects by address, and the types of these tables.
    pub vtables: Vec<(u64, usize)>,
    /// Types called `Core<..>` in a module `core`.
    pub cores: Vec<usize>,
    /// Types with the names of tokio's structures.
    pub structures: Vec<usize>,
    /// Functions that resume coroutines: names and entries, by path.
    pub resumes: HashMap<PathId, Vec<(&'a [u8], usize)>>,
    /// Functions of tokio and of dyntrace that spawn.
    pub spawners: Vec<usize>,
    /// Functions that are copies of others, by their entries.
    pub copies: HashMap<usize, usize>,
}

impl<'a> Index<'a> {
    pub fn of(units: &Units<'a>, is_wanted: impl Fn(At<'_, 'a>) -> bool + Sync) -> Index<'a> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(limits::THREADS).min(units.len());
        let next = AtomicUsize::new(0);
        let parts: Vec<Index<'a>> = std::thread::scope(|scope| {
            let part = || {
                let mut part = Index::empty();
                while let Some(at) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if is_wanted(at) {
                        part.add_unit(at);
                    }
                }
                part
            };
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(part)).collect();
            let own = part();
            // a thread that panicked leaves its units out
            std::iter::once(own).chain(others.into_iter().filter_map(|thread| thread.join().ok())).collect()
        });
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or_else(Index::empty);
        for part in parts {
            all.absorb(part);
        }
        all.sort();
        all
    }

    fn empty() -> Index<'a> {
        Index {
            paths: Paths::new(),
            types: Vec::new(),
            functions: Vec::new(),
            vtables: Vec::new(),
            cores: Vec::new(),
            structures: Vec::new(),
            resumes: HashMap::new(),
            spawners: Vec::new(),
            copies: HashMap::new(),
        }
    }

    fn absorb(&mut self, part: Index<'a>) {
        let ids = self.paths.absorb(&part.paths);
        self.types.extend(part.types.into_iter().map(|(offset, path)| (offset, ids[path as usize])));
        self.functions.extend(part.functions);
        self.vtables.extend(part.vtables);
        self.cores.extend(part.cores);
        self.structures.extend(part.structures);
        self.spawners.extend(part.spawners);
        self.copies.extend(part.copies);
        for (path, functions) in part.resumes {
            self.resumes.entry(ids[path as usize]).or_default().extend(functions);
        }
    }

    fn sort(&mut self) {
        self.types.sort_unstable();
        self.functions.sort_unstable();
        self.vtables.sort_unstable();
        self.cores.sort_unstable();
        self.structures.sort_unstable();
        self.spawners.sort_unstable();
        for functions in self.resumes.values_mut() {
            functions.sort_unstable();
        }
    }

    /// Adds a unit, up to its first entry that cannot be read.
    fn add_unit(&mut self, at: At<'_, 'a>) {
        at.walk(wanted, |entry, offset, around: Option<&mut Scope<'a>>| {
            let parent = around.map_or(0, |scope| scope.path(&mut self.paths));
            let name = self.add(at, entry, offset, parent)?;
            Some(Scope { parent, name, path: None })
        });
    }

    /// Adds an entry. Returns its name if other entries may lie in it.
    fn add(&mut self, at: At<'_, 'a>, entry: &Entry<'a>, offset: usize, parent: PathId) -> Option<&'a [u8]> {
        let name = match at.name(entry) {
            // in a supplementary file that is missing: no other entry may seem to have this path
            b"" if entry.attr_value(constants::DW_AT_name).is_some() => b"?",
            name => name,
        };
        match entry.tag() {
            constants::DW_TAG_variable => {
                self.vtables.extend(vtable(at, entry, name));
                return None;
            }
            constants::DW_TAG_namespace => {}
            constants::DW_TAG_subprogram => {
                self.functions.extend(at.low_pc(entry).map(|address| (address, offset)));
                if name.starts_with(b"spawn")
                    && matches!(self.paths.first(parent), b"tokio" | b"dyntrace" | b"dyntrace_processes")
                {
                    self.spawners.push(offset);
                }
                if name.is_empty()
                    && let Some(origin) = at.reference(entry.attr_value(constants::DW_AT_abstract_origin))
                {
                    self.copies.insert(offset, origin);
                }
                if name.starts_with(b"{async") {
                    self.resumes.entry(parent).or_default().push((name, offset));
                }
            }
            _ => {
                self.types.push((offset, parent));
                if name.starts_with(b"Core<") && self.paths.last(parent) == b"core" {
                    self.cores.push(offset);
                } else if STRUCTURES.contains(&(self.paths.last(parent), name)) {
                    self.structures.push(offset);
                }
            }
        }
        Some(name)
    }
}

/// An entry around others.
struct Scope<'a> {
    parent: PathId,
    name: &'a [u8],
    /// Its own, once an entry in it was found: most types and functions have none, and names are long.
    path: Option<PathId>,
}

impl<'a> Scope<'a> {
    fn path(&mut self, paths: &mut Paths<'a>) -> PathId {
        *self.path.get_or_insert_with(|| paths.add(self.parent, self.name))
    }
}

fn wanted(tag: gimli::DwTag, depth: isize) -> bool {
    match tag {
        constants::DW_TAG_namespace
        | constants::DW_TAG_structure_type
        | constants::DW_TAG_union_type
        | constants::DW_TAG_enumeration_type
        | constants::DW_TAG_subprogram => true,
        // vtables lie directly in the unit
        constants::DW_TAG_variable => depth <= 1,
        _ => false,
    }
}

/// Returns the address of a vtable's variable and the variable's type.
fn vtable<'a>(at: At<'_, 'a>, entry: &Entry<'a>, name: &[u8]) -> Option<(u64, usize)> {
    if !name.ends_with(b"::{vtable}") {
        return None;
    }
    let Some(AttributeValue::Exprloc(location)) = entry.attr_value(constants::DW_AT_location) else { return None };
    let address = match location.operations(at.unit.encoding()).next() {
        Ok(Some(Operation::Address { address })) => address,
        Ok(Some(Operation::AddressIndex { index })) => at.dwarf.address(at.unit, index).ok()?,
        _ => return None,
    };
    (address != 0).then_some((address, at.type_of(entry)?))
}
