//! Finds tokio's task vtables in memory. Each describes the tasks of one future type under one scheduler.

use std::ops::Range;

use memchr::memmem;
use serde::Serialize;

use crate::cell::HeaderLayout;
use crate::debug_file;
use crate::error::Error;
use crate::image::{Image, contain};
use crate::layout::{Other, TaskLayout, VtableLayout};
use crate::listing::Name;
use crate::memory::{Memory, word_at};
use crate::symbols;

/// A vtable: seven functions, then offsets from the task's header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskVtable {
    /// The image that contains it, by its place among the program's images.
    pub image: usize,
    /// Its own address, in the process.
    pub address: u64,
    /// The function that polls the future, in the image's file.
    pub poll: u64,
    /// Where the vtable has this function, in the process.
    pub poll_at: u64,
    /// The function that schedules the task, in the image's file: equal for all tasks with the same scheduler type.
    pub schedule: u64,
    /// The function that frees the task, in the image's file.
    pub dealloc: u64,
    /// Of the links of the runtime's list, in the trailer.
    pub links: u64,
    /// Of the scheduler.
    pub scheduler: u64,
    /// Of the task's id.
    pub id: u64,
    /// Of the place that spawned it, in programs built with `tokio_unstable`.
    pub spawn_location: Option<u64>,
    /// Where its tasks' headers have their words.
    pub header: HeaderLayout,
    /// The future.
    pub name: Name,
}

#[cfg(test)]
impl TaskVtable {
    /// Returns a vtable of a small task, for tests.
    pub(crate) fn sample(image: usize, address: u64) -> TaskVtable {
        TaskVtable {
            image,
            address,
            poll: 0,
            poll_at: address,
            schedule: 0,
            dealloc: 0,
            links: 0x80,
            scheduler: 0x20,
            id: 0x28,
            spawn_location: None,
            header: HeaderLayout::default(),
            name: Name::Address { poll: 0 },
        }
    }
}

/// Bytes of a table read at once.
const CHUNK: u64 = 1 << 20;

/// Bytes of tables searched in one image, at most.
const MOST: u64 = 1 << 30;

/// A text that only a function of a vtable has: in all known versions of tokio, and without symbols.
const OF_TASKS: &[u8] = b"JoinHandle polled after completion";

/// The vtables of an image.
#[derive(Debug, Default)]
pub(crate) struct ImageVtables {
    /// By the layout that the image's types describe, or else by that of the known versions.
    pub vtables: Vec<TaskVtable>,
    /// How that layout differs.
    pub other: Other,
}

/// Finds the vtables of the image at `index`, and its debug file, below `root` if that is given. Adds a debug file that cannot be read to
/// `notes`.
///
/// # Errors
///
/// As [`find`].
pub(crate) fn search(
    memory: &dyn Memory,
    index: usize,
    image: &mut Image,
    code: &[Range<u64>],
    root: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<ImageVtables, Error> {
    let known = TaskLayout::default();
    let (vtables, has_tasks) = find(memory, index, image, code, &known)?;
    let mut found = ImageVtables { vtables, ..ImageVtables::default() };
    // Vtables of another layout may not look like vtables: of the program itself, types are asked also without any.
    if found.vtables.is_empty() && index > 0 && !has_tasks {
        return Ok(found);
    }
    if image.debug_file.is_none() {
        image.debug_file = debug_file::find(root, image, notes);
    }
    let path = image.path.display();
    match TaskLayout::by_types(image) {
        Ok(Some(layout)) if layout != known => {
            found.vtables = find(memory, index, image, code, &layout)?.0;
            found.other.by_types = !found.vtables.is_empty();
        }
        Ok(_) => {}
        Err(field) => found.other.gaps.push(format!("another layout of tokio: its types in {path} lack `{field}`")),
    }
    if found.vtables.is_empty() && found.other.gaps.is_empty() && (has_tasks || has_symbol(image)) {
        found.other.gaps.push(format!(
            "another layout of tokio: {path} has its functions for tasks, and no `Vtable` of 7 functions before the offsets of trailer, \
             scheduler and id; build with `debug = 2`, or name the debug file by --debug"
        ));
    }
    Ok(found)
}

/// Whether a symbol of the program names a function that polls tasks. Libraries may have those of tokio's own library.
fn has_symbol(image: &Image) -> bool {
    let of_image = [Some(image.bytes()), image.debug_file.as_ref().map(|file| file.bytes())];
    of_image.into_iter().flatten().any(symbols::has_poll)
}

/// The words of a vtable that the reader needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    poll: u64,
    schedule: u64,
    dealloc: u64,
    trailer: u64,
    scheduler: u64,
    id: u64,
    /// Another word, or 0, if it has none.
    spawn_location: u64,
}

/// Finds the vtables of the image at `index`, by their shape. They are named by address only. `code` is that of all images, in the
/// process: in order, and apart from each other. Returns also whether a text shows that there are tasks.
///
/// # Errors
///
/// If the image's headers tell of more constants than are searched: they may be damaged.
fn find(
    memory: &dyn Memory,
    index: usize,
    image: &Image,
    code: &[Range<u64>],
    layout: &TaskLayout,
) -> Result<(Vec<TaskVtable>, bool), Error> {
    let bytes =
        image.tables.iter().fold(0, |sum: u64, table| sum.saturating_add(table.end.saturating_sub(table.start)));
    if bytes > MOST {
        return Err(Error::TooManyConstants { path: image.path.clone(), bytes });
    }
    let mut buffer = Vec::new();
    let anywhere = |address| contain(code, address);
    let (mut shapes, mut has_tasks) = (Vec::new(), false);
    for table in &image.tables {
        let mut at = table.start;
        // Chunks overlap, so that no vtable is cut.
        while at < table.end {
            let end = table.end.min(at.saturating_add(CHUNK + layout.vtable.length()));
            buffer.resize(usize::try_from(end - at).unwrap_or(0), 0);
            let address = image.bias.wrapping_add(at);
            if memory.read(address, &mut buffer).is_ok() {
                shapes.extend(in_bytes(address, &buffer, &layout.vtable, |address| image.has_code(address), anywhere));
                has_tasks |= shapes.is_empty() && memmem::find(&buffer, OF_TASKS).is_some();
            }
            at = at.saturating_add(CHUNK);
        }
    }
    shapes.sort_unstable();
    shapes.dedup_by_key(|(address, _)| *address);
    let unstable = has_spawn_locations(&shapes);
    let vtable = |(address, shape): &(u64, Shape)| {
        let [poll, schedule, dealloc] =
            [shape.poll, shape.schedule, shape.dealloc].map(|function| function.wrapping_sub(image.bias));
        TaskVtable {
            image: index,
            address: *address,
            poll,
            poll_at: address.wrapping_add(layout.vtable.poll),
            schedule,
            dealloc,
            links: shape.trailer.saturating_add(layout.links),
            scheduler: shape.scheduler,
            id: shape.id,
            spawn_location: unstable.then_some(shape.spawn_location),
            header: layout.header,
            name: Name::Address { poll },
        }
    };
    Ok((shapes.iter().map(vtable).collect(), has_tasks))
}

/// All of an image's vtables have the location, or none has: a single word after a vtable could look like it.
fn has_spawn_locations(shapes: &[(u64, Shape)]) -> bool {
    !shapes.is_empty() && shapes.iter().all(|(_, shape)| shape.spawn_location == shape.id + 8)
}

/// Finds words with the shape of a vtable in `bytes`, which were read from `address`. The function that polls is the image's own; tokio
/// in a library may have others.
fn in_bytes(
    address: u64,
    bytes: &[u8],
    layout: &VtableLayout,
    is_own_code: impl Fn(u64) -> bool,
    is_code: impl Fn(u64) -> bool,
) -> Vec<(u64, Shape)> {
    let mut found = Vec::new();
    let first = usize::try_from(address.wrapping_neg() % 8).unwrap_or(0);
    for start in (first..bytes.len()).step_by(8) {
        let word = |offset: u64| word_at(bytes, start + usize::try_from(offset).ok()?);
        let is_own = |offset| word(offset).is_some_and(&is_own_code);
        if !is_own(layout.poll) {
            continue;
        }
        let shape = || {
            let is_function = |offset: &u64| word(*offset).is_some_and(|word| is_own_code(word) || is_code(word));
            Some(Shape {
                poll: word(layout.poll)?,
                schedule: word(layout.schedule)?,
                dealloc: word(layout.dealloc)?,
                trailer: word(layout.trailer)?,
                scheduler: word(layout.scheduler)?,
                id: word(layout.id)?,
                // It may lie beyond the end of the table.
                spawn_location: word(layout.spawn_location).unwrap_or(0),
            })
            .filter(|shape| layout.functions.iter().all(is_function) && has_offsets(shape))
        };
        found.extend(shape().map(|shape| (address.wrapping_add(start as u64), shape)));
    }
    found
}

/// The scheduler follows the header, the id the scheduler, and the trailer the future.
fn has_offsets(shape: &Shape) -> bool {
    let Shape { trailer, scheduler, id, .. } = *shape;
    let aligned = (trailer | scheduler | id) % 8 == 0;
    // A future's alignment moves the scheduler away from the header, which has 32 bytes or more.
    aligned
        && (0x20..=0x1000).contains(&scheduler)
        && (scheduler..=scheduler + 0x100).contains(&id)
        && id < trailer
        && trailer < 1 << 32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::Unreadable;

    const CODE: std::ops::Range<u64> = 0x1000..0x2000;

    fn found(words: &[u64]) -> Vec<(u64, Shape)> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        in_bytes(
            0x8000,
            &bytes,
            &VtableLayout::default(),
            |address| CODE.contains(&address),
            |address| (CODE.start..CODE.end + 16).contains(&address),
        )
    }

    fn forged(offsets: &[u64]) -> Vec<u64> {
        let functions = (0..7).map(|index| CODE.start + index * 16);
        functions.chain(offsets.iter().copied()).collect()
    }

    #[test]
    fn functions_may_be_a_librarys_but_for_the_first() {
        let mut words = forged(&[0x80, 0x20, 0x28]);
        words[1] = CODE.end;
        assert_eq!(found(&words).len(), 1);
        words[0] = CODE.end;
        assert_eq!(found(&words), []);
    }

    #[test]
    fn finds_a_vtable_among_other_words() {
        let mut words = vec![7, CODE.start];
        words.extend(forged(&[0x80, 0x20, 0x28, 0x30, 5]));
        let found = found(&words);
        assert_eq!(found.len(), 1);
        // The pointer to code before it is no part of it.
        assert_eq!(found[0].0, 0x8010);
        assert!(has_spawn_locations(&found));
    }

    #[test]
    fn the_last_vtable_of_a_table_may_end_with_it() {
        let found = found(&forged(&[0x80, 0x20, 0x28]));
        assert_eq!(found.len(), 1);
        assert!(!has_spawn_locations(&found));
    }

    #[test]
    fn refuses_offsets_that_fit_no_task() {
        for offsets in
            [[0x80, 0x18, 0x28], [0x80, 0x20, 0x18], [0x28, 0x20, 0x28], [0x81, 0x20, 0x28], [1 << 40, 0x20, 0x28]]
        {
            assert_eq!(found(&forged(&offsets)), [], "{offsets:x?}");
        }
        assert_eq!(found(&forged(&[0x80, 0x20, 0x28])[1..]), []);
    }

    #[test]
    fn a_vtable_of_another_layout_is_found_by_that() {
        let words: Vec<u64> = [CODE.start].into_iter().chain(forged(&[0x80, 0x20, 0x28])).collect();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let known = VtableLayout::default();
        let longer = VtableLayout {
            functions: (0..8).map(|word| word * 8).collect(),
            poll: 8,
            schedule: 0x10,
            dealloc: 0x18,
            trailer: 0x40,
            scheduler: 0x48,
            id: 0x50,
            spawn_location: 0x58,
        };
        let found = |layout| in_bytes(0x8000, &bytes, layout, |address| CODE.contains(&address), |_| false);
        let ([(at, by_seven)], [(before, by_eight)]) = (&found(&known)[..], &found(&longer)[..]) else { panic!() };
        assert_eq!((*at, *before, by_seven), (0x8008, 0x8000, by_eight));
    }

    #[test]
    fn one_vtable_without_a_location_shows_that_none_has_it() {
        let [with, without] = [0x30, 0].map(|location| found(&forged(&[0x80, 0x20, 0x28, location]))[0]);
        let mut shapes = vec![with];
        assert!(has_spawn_locations(&shapes));
        shapes.push(without);
        assert!(!has_spawn_locations(&shapes));
        assert!(!has_spawn_locations(&[]));
    }

    /// Counts the bytes that are read of it, and has none.
    struct Nothing(std::cell::Cell<usize>);

    impl Memory for Nothing {
        fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
            self.0.set(self.0.get() + bytes.len());
            Err(Unreadable { address })
        }
    }

    #[test]
    fn sizes_of_a_damaged_file_are_refused() {
        let memory = Nothing(std::cell::Cell::new(0));
        let found = |tables: &[(u64, u64)]| {
            let tables: Vec<_> = tables.iter().map(|&(start, end)| start..end).collect();
            find(&memory, 0, &Image::sample(&tables), &[], &TaskLayout::default()).map(|(vtables, _)| vtables)
        };
        for tables in [&[(0, u64::MAX)][..], &[(8, MOST), (0, 9)], &[(u64::MAX - 8, u64::MAX), (0, u64::MAX)]] {
            let error = found(tables).unwrap_err().to_string();
            assert!(error.contains("1 GiB"), "{error}");
        }
        assert_eq!(memory.0.get(), 0);
        assert_eq!(found(&[(9, 8), (u64::MAX - 8, u64::MAX)]).unwrap(), []);
        assert_eq!(memory.0.get(), 8);
        assert_eq!(found(&[(0, MOST)]).unwrap(), []);
    }

    proptest! {
        #[test]
        fn never_panics(bytes: Vec<u8>, address in 0..1_u64 << 48) {
            in_bytes(address, &bytes, &VtableLayout::default(), |address| address % 2 == 0, |address| address % 3 == 0);
        }
    }
}
