//! Texts and lines of source in a program's memory.

use super::value::{Value, Values};
use crate::listing::Place;

/// Bytes of a text that are read.
const LONGEST: u64 = 4096;

/// The path in a `Location`, in the fields of each version of the standard library.
const PATHS: [&[&str]; 2] = [&["filename", "pointer"], &["file"]];

/// Reads a `str` behind a pointer.
pub(crate) fn string(values: &Values<'_, '_>, pointer: &Value) -> Option<String> {
    let begin = values.number(&values.field(pointer, "data_ptr")?)?;
    text(values, begin, values.number(&values.field(pointer, "length")?)?)
}

/// Reads a text. Bytes that are not UTF-8 are replaced.
pub(crate) fn text(values: &Values<'_, '_>, begin: u64, length: u64) -> Option<String> {
    let mut bytes = vec![0; usize::try_from(length.min(LONGEST)).ok()?];
    values.memory.read(begin, &mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads a `core::panic::Location`.
pub(super) fn location(values: &Values<'_, '_>, location: &Value) -> Option<Place> {
    let path = PATHS.iter().find_map(|steps| values.follow(location, steps))?;
    let line = values.low(&values.field(location, "line")?, 4)?;
    Some(Place::new(string(values, &path)?.trim_end_matches('\0'), u32::try_from(line).ok()?))
}
