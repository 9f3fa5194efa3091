//! Where a program polls and wakes its tasks: the functions at which a tracer sees each poll and each wake.
//!
//! 1. A vtable's first function polls the task whose header is its argument. Each type of task has its own, unless the linker merged them;
//!    the header has the vtable, so the type is known in either case.
//! 2. Two functions, found by their symbols, wake a task by its waker: also one that is polled, or is awake already.
//! 3. Where there are no symbols, a vtable's second function is called once for all wakes before a poll. Wakes during a poll do not call it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use object::{Object, ObjectSegment, ObjectSymbol};

use crate::dwarf::Types;
use crate::elf::Elf;
use crate::future::names;
use crate::image::Image;
use crate::listing::Name;
use crate::memory::Memory;
use crate::program::Program;
use crate::reading::{self, DebugInformation};
use crate::symbols::Symbols;
use crate::vtables::TaskVtable;

/// Where a program polls and wakes its tasks, and the types of these.
#[derive(Debug)]
pub struct Polls {
    /// Types of tasks.
    pub types: Vec<PolledType>,
    /// Functions of all images.
    pub functions: Functions,
    /// Debug information that could not be read.
    pub notes: Vec<String>,
    /// Tasks whose polls no function shows, in words.
    pub gaps: Vec<String>,
}

/// The functions that poll and wake tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Functions {
    /// Functions that poll tasks. The first argument is the task's header.
    pub poll: Vec<Function>,
    /// Functions that wake tasks, if symbols name them. The first argument is the task's header.
    pub wake: Vec<Function>,
    /// In images without such symbols: functions that schedule tasks which were woken. The first argument is the task's header. None of
    /// an image that uses tokio in a library, whose symbols name the functions that wake.
    pub schedule: Vec<Function>,
    /// Two other functions that are seldom called. A tracer that sets its probes in the order of a list can have them first and last.
    pub marks: Option<[Function; 2]>,
}

/// A type of tasks.
#[derive(Debug)]
pub struct PolledType {
    /// The address of its vtable in the process.
    pub vtable: u64,
    /// Its future.
    pub name: Name,
    /// The future's name as listings have it, if debug information describes the type.
    pub function: Option<Arc<str>>,
}

/// A function of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// The image, by its place among the program's.
    pub image: usize,
    /// The image's path in the process.
    pub path: PathBuf,
    /// Its address in the process.
    pub address: u64,
    /// Its address in the file.
    pub in_file: u64,
    /// Its offset in the file.
    pub offset: u64,
    /// Whether one of the image's own symbols covers it.
    pub has_symbol: bool,
}

/// Places in a vtable: the function that drops an `AbortHandle`, and the one that ends a task when its runtime ends.
const MARKS: [u64; 2] = [0x28, 0x30];

impl Polls {
    /// Finds the functions of a running program.
    #[must_use]
    pub fn of(program: &Program, information: &DebugInformation<'_>) -> Polls {
        let (notes, gaps) = (information.notes().to_vec(), program.notes().to_vec());
        let mut polls = Polls { types: Vec::new(), functions: Functions::default(), notes, gaps };
        let vtables_of = |index| program.vtables().iter().filter(move |vtable| vtable.image == index);
        for (index, image) in program.images().iter().enumerate() {
            let vtables: Vec<_> = vtables_of(index).collect();
            if vtables.is_empty() {
                continue;
            }
            let types = information.sections(index).and_then(|sections| {
                let types = Types::load(sections);
                types.map_err(|error| polls.notes.push(format!("{}: {error}", image.path.display()))).ok()
            });
            polls.types.extend(vtables.iter().map(|vtable| {
                let polled = types.as_ref().map_or_else(Vec::new, |types| types.polled(vtable.poll));
                let function = types.as_ref().and_then(|types| match &polled[..] {
                    [only] => Some(names::of(types, &types.get(only.future))),
                    _ => None,
                });
                PolledType { vtable: vtable.address, name: reading::name(types.as_ref(), vtable, &polled), function }
            }));
            let of_image = Functions::of(program.memory(), (index, image), &vtables);
            polls.gaps.extend(gap(image, &vtables, of_image.poll.len()));
            polls.functions.poll.extend(of_image.poll);
            polls.functions.wake.extend(of_image.wake);
            polls.functions.schedule.extend(of_image.schedule);
            polls.functions.marks = polls.functions.marks.or(of_image.marks);
        }
        if polls.functions.wake.is_empty() {
            let images = program.images().iter().enumerate().map(|(index, image)| File::of(index, image));
            for file in images.filter(File::imports_tokio) {
                polls.functions.schedule.extend(file.functions(vtables_of(file.index).map(|vtable| vtable.schedule)));
            }
        }
        polls
    }
}

impl Functions {
    /// Finds the functions of one image, which has these vtables.
    pub(crate) fn of(memory: &dyn Memory, (index, image): (usize, &Image), vtables: &[&TaskVtable]) -> Functions {
        let file = File::of(index, image);
        let mark = |offset| {
            let address = memory.word(vtables.first()?.address.wrapping_add(offset)).ok()?;
            file.function(address.wrapping_sub(image.bias))
        };
        let wake = file.functions(wakers(image));
        let has_own = wake.is_empty() && !file.imports_tokio();
        let schedule = vtables.iter().filter(|_| has_own).map(|vtable| vtable.schedule);
        Functions {
            poll: file.functions(vtables.iter().map(|vtable| vtable.poll)),
            schedule: file.functions(schedule),
            wake,
            marks: match MARKS.map(mark) {
                [Some(first), Some(last)] => Some([first, last]),
                _ => None,
            },
        }
    }

    /// All of them, each at least once.
    pub fn all(&self) -> impl Iterator<Item = &Function> {
        self.poll.iter().chain(&self.wake).chain(&self.schedule).chain(self.marks.iter().flatten())
    }
}

/// Tells how many functions of an image poll tasks and are not in its file, where only `found` are.
fn gap(image: &Image, vtables: &[&TaskVtable], found: usize) -> Option<String> {
    let all: BTreeSet<u64> = vtables.iter().map(|vtable| vtable.poll).collect();
    let missing = all.len().saturating_sub(found);
    (missing > 0).then(|| {
        let (all, path) = (all.len(), image.path.display());
        format!("{missing} of {all} functions that poll tasks are not in the file {path}")
    })
}

/// Returns the addresses of both functions that wake a task by its waker; of each version of tokio in the image. None if some have no
/// symbol.
fn wakers(image: &Image) -> Vec<u64> {
    let files: Vec<&[u8]> =
        std::iter::once(image.bytes()).chain(image.debug_file.as_ref().map(|file| file.bytes())).collect();
    let symbols = Symbols::read(&files);
    let of = |name: &str| symbols.named(&format!("tokio::runtime::task::waker::{name}"));
    let (by_value, by_reference) = (of("wake_by_val"), of("wake_by_ref"));
    if by_value.len() == by_reference.len() { [by_value, by_reference].concat() } else { Vec::new() }
}

/// An image's file.
struct File<'a> {
    index: usize,
    image: &'a Image,
    elf: Option<Elf<'a>>,
}

impl<'a> File<'a> {
    fn of(index: usize, image: &'a Image) -> File<'a> {
        File { index, image, elf: Elf::parse(image.bytes()).ok() }
    }

    /// Returns the functions at these addresses in the file, each once.
    fn functions(&self, addresses: impl IntoIterator<Item = u64>) -> Vec<Function> {
        let mut addresses: Vec<u64> = addresses.into_iter().collect();
        addresses.sort_unstable();
        addresses.dedup();
        addresses.into_iter().filter_map(|address| self.function(address)).collect()
    }

    /// Whether tokio's own code is in a library.
    fn imports_tokio(&self) -> bool {
        let mut symbols = self.elf.iter().flat_map(|elf| elf.dynamic_symbols());
        symbols.any(|symbol| symbol.is_undefined() && symbol.name().is_ok_and(|name| name.contains("5tokio")))
    }

    fn function(&self, address: u64) -> Option<Function> {
        let elf = self.elf.as_ref()?;
        let offset = elf.segments().find_map(|segment| {
            let (offset, size) = segment.file_range();
            let inside = address.checked_sub(segment.address()).filter(|inside| *inside < size)?;
            offset.checked_add(inside)
        })?;
        let mut symbols = elf.symbols().chain(elf.dynamic_symbols());
        let has_symbol = symbols.any(|symbol| {
            symbol.is_definition()
                && (symbol.address()..symbol.address().saturating_add(symbol.size())).contains(&address)
        });
        Some(Function {
            image: self.index,
            path: self.image.path.clone(),
            address: self.image.bias.wrapping_add(address),
            in_file: address,
            offset,
            has_symbol,
        })
    }
}
