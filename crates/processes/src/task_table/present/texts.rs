//! The area of texts.
//!
//! Functions, places and names are the program's constants, by whose addresses they are found again; they stay. A tag is counted, and its
//! space is free again with its last task.

use std::collections::HashMap;
use std::io::Write as _;
use std::panic::Location;
use std::ptr;
use std::slice;

use dyntrace_task_table::layout::{PAGE, TAG_LIMIT, TEXT_LIMIT, TEXT_UNIT, TEXTS};

use super::file::Mapped;

/// How much disk space is reserved at once, in bytes.
const AT_ONCE: usize = 16 * PAGE;
/// Spaces are of 1, 2, 4 ... units; the largest text needs the last of these sizes.
const SIZES: usize = (8 + 2 * TEXT_LIMIT).div_ceil(TEXT_UNIT).next_power_of_two().ilog2() as usize + 1;

/// The address and length of a constant text, and the address of a place, or null.
pub(super) type Constant = (*const u8, usize, *const Location<'static>);

pub(super) fn site(text: &'static str, place: &'static Location<'static>) -> Constant {
    (text.as_ptr(), text.len(), ptr::from_ref(place))
}

pub(super) fn name(name: &'static str) -> Constant {
    (name.as_ptr(), name.len(), ptr::null())
}

pub(super) struct Texts {
    /// The end of the texts, in bytes of the file.
    end: usize,
    /// The end of the reserved space.
    reserved: usize,
    /// The end of the area.
    limit: usize,
    constants: HashMap<Constant, u32>,
    /// References to tags, with the number of their uses.
    tags: HashMap<Box<str>, (u32, usize)>,
    by_reference: HashMap<u32, Box<str>>,
    /// Free spaces, by the logarithm of their units.
    free: [Vec<u32>; SIZES],
}

// SAFETY: the addresses are only compared.
unsafe impl Send for Texts {}

impl Texts {
    /// An empty area in these bytes of the file.
    pub(super) fn new(from: usize, limit: usize) -> Texts {
        Texts {
            // 0 is no reference.
            end: from + TEXT_UNIT,
            reserved: from,
            limit,
            constants: HashMap::new(),
            tags: HashMap::new(),
            by_reference: HashMap::new(),
            free: [const { Vec::new() }; SIZES],
        }
    }

    /// A reference to a text and its place; `None` if there is no space.
    pub(super) fn site(&mut self, file: &Mapped, text: &'static str, place: &'static Location<'static>) -> Option<u32> {
        self.constant(file, site(text, place), text, |text| {
            // The only error is that the text is full.
            let _ = write!(text, "{}:{}", place.file(), place.line());
        })
    }

    /// A reference to a name; `None` if there is no space.
    pub(super) fn name(&mut self, file: &Mapped, name: &'static str) -> Option<u32> {
        self.constant(file, self::name(name), name, |_| ())
    }

    fn constant(
        &mut self,
        file: &Mapped,
        key: Constant,
        text: &str,
        second: impl FnOnce(&mut &mut [u8]),
    ) -> Option<u32> {
        if let Some(reference) = self.constants.get(&key) {
            return Some(*reference);
        }
        let mut bytes = [0; TEXT_LIMIT];
        let mut rest = &mut bytes[..];
        second(&mut rest);
        let unused = rest.len();
        let reference = self.add(file, cut(text, TEXT_LIMIT).as_bytes(), &bytes[..TEXT_LIMIT - unused])?;
        self.constants.insert(key, reference);
        Some(reference)
    }

    /// A reference to a tag; the caller [releases](Self::release) it. `None` if there is no space.
    pub(super) fn tag(&mut self, file: &Mapped, tag: &str) -> Option<u32> {
        let tag = cut(tag, TAG_LIMIT);
        if let Some((reference, uses)) = self.tags.get_mut(tag) {
            *uses += 1;
            return Some(*reference);
        }
        let reference = self.add(file, tag.as_bytes(), &[])?;
        self.tags.insert(tag.into(), (reference, 1));
        self.by_reference.insert(reference, tag.into());
        Some(reference)
    }

    /// Ends one use of a tag.
    pub(super) fn release(&mut self, reference: u32) {
        let Some(tag) = self.by_reference.get(&reference) else { return };
        let Some((_, uses)) = self.tags.get_mut(tag) else { return };
        *uses -= 1;
        if *uses == 0 {
            let size = size(tag.len());
            self.tags.remove(tag);
            self.by_reference.remove(&reference);
            self.free[size].push(reference);
        }
    }

    /// The constant text of a reference, and its place, if it has one. Looks through all constants.
    pub(super) fn constant_of(&self, reference: u32) -> Option<(&'static str, Option<&'static Location<'static>>)> {
        let ((text, length, place), _) = self.constants.iter().find(|(_, known)| **known == reference)?;
        // SAFETY: the keys are made by `site` and `name`, of a `&'static str`, and of a `&'static Location` or null.
        unsafe {
            let text = str::from_utf8_unchecked(slice::from_raw_parts(*text, *length));
            Some((text, place.as_ref()))
        }
    }

    /// The tag of a reference.
    pub(super) fn tag_of(&self, reference: u32) -> Option<&str> {
        self.by_reference.get(&reference).map(|tag| &**tag)
    }

    fn add(&mut self, file: &Mapped, first: &[u8], second: &[u8]) -> Option<u32> {
        let size = size(first.len() + second.len());
        let reference = match self.free[size].pop() {
            Some(free) => free,
            None => self.extend(file, TEXT_UNIT << size)?,
        };
        let place = TEXTS + reference as usize * TEXT_UNIT;
        let lengths = (second.len() as u64) << 32 | first.len() as u64;
        file.put_text(place, &lengths.to_ne_bytes());
        file.put_text(place + 8, first);
        file.put_text(place + 8 + first.len(), second);
        Some(reference)
    }

    /// A new space of `bytes` bytes at the end; `None` if the area or the disk is full.
    fn extend(&mut self, file: &Mapped, bytes: usize) -> Option<u32> {
        let (begin, end) = (self.end, self.end + bytes);
        if end > self.limit {
            return None;
        }
        if end > self.reserved {
            let upto = end.next_multiple_of(AT_ONCE).min(self.limit);
            file.reserve(self.reserved, upto).ok()?;
            self.reserved = upto;
        }
        self.end = end;
        u32::try_from((begin - TEXTS) / TEXT_UNIT).ok()
    }
}

/// The size of the space for texts of `bytes` bytes together, as the logarithm of its units.
fn size(bytes: usize) -> usize {
    (8 + bytes).div_ceil(TEXT_UNIT).next_power_of_two().ilog2() as usize
}

fn cut(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(text.len().min(limit))]
}
