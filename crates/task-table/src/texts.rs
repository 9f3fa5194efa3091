//! The texts of a table, as its reader finds them by references.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use crate::layout::{TAG_LIMIT, TEXT_AREA, TEXT_LIMIT, TEXT_UNIT, TEXTS};
use crate::source::Source;

/// A pair of texts: function and place, operation and place, or a name and nothing.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Texted {
    /// The first one.
    pub first: Box<str>,
    /// The second one.
    pub second: Box<str>,
}

/// A pair that tasks share.
pub type Pair = Arc<Texted>;

/// Texts that never change, by their references. `None` for damaged ones.
pub(crate) type Constants = HashMap<u32, Option<Pair>>;

/// The texts that were found, and their costs.
pub(crate) struct Texts {
    /// The end of the area of texts in the file.
    end: u64,
    constants: Constants,
    /// Bytes of texts that may still be kept. Sound texts do not overlap, so they need no more than the area has.
    left: usize,
    /// References that lead to no text.
    pub damaged: u64,
}

impl Texts {
    /// `end`: the end of the area in the file.
    pub(crate) fn new(end: u64) -> Texts {
        Texts { end, constants: HashMap::new(), left: TEXT_AREA, damaged: 0 }
    }

    pub(crate) fn into_constants(self) -> Constants {
        self.constants
    }

    /// A text that never changes. `None` for reference 0, and for a damaged one, which is counted once.
    pub(crate) fn constant(&mut self, source: &(impl Source + ?Sized), reference: u32) -> io::Result<Option<Pair>> {
        if reference == 0 {
            return Ok(None);
        }
        if let Some(known) = self.constants.get(&reference) {
            return Ok(known.clone());
        }
        let pair = self.pair(source, reference, TEXT_LIMIT)?.filter(|(first, second)| {
            let left = self.left.checked_sub(TEXT_UNIT + first.len() + second.len());
            self.left = left.unwrap_or(0);
            left.is_some()
        });
        let pair = pair.map(|(first, second)| Arc::new(Texted { first, second }));
        self.damaged += u64::from(pair.is_none());
        self.constants.insert(reference, pair.clone());
        Ok(pair)
    }

    /// A tag. `None` if it is damaged.
    pub(crate) fn tag(&self, source: &(impl Source + ?Sized), reference: u32) -> io::Result<Option<Box<str>>> {
        Ok(self.pair(source, reference, TAG_LIMIT)?.map(|(tag, _)| tag))
    }

    fn pair(
        &self,
        source: &(impl Source + ?Sized),
        reference: u32,
        limit: usize,
    ) -> io::Result<Option<(Box<str>, Box<str>)>> {
        let place = TEXTS as u64 + u64::from(reference) * TEXT_UNIT as u64;
        let mut bytes = [0; 8 + 2 * TEXT_LIMIT];
        let room = usize::try_from(self.end.saturating_sub(place)).unwrap_or(usize::MAX).min(bytes.len());
        let copied = source.copy(&mut bytes[..room], place)?;
        Ok(split(&bytes[..copied], limit))
    }
}

/// The texts after a word with their lengths.
fn split(bytes: &[u8], limit: usize) -> Option<(Box<str>, Box<str>)> {
    let (lengths, texts) = bytes.split_first_chunk::<8>()?;
    let lengths = u64::from_ne_bytes(*lengths);
    let (first, second) = (lengths as u32 as usize, (lengths >> 32) as usize);
    if first > limit || second > limit {
        return None;
    }
    let (first, rest) = texts.split_at_checked(first)?;
    let second = rest.get(..second)?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned().into_boxed_str();
    Some((text(first), text(second)))
}
