//! Texts in a program's memory.

use super::value::{Value, Values};

/// Bytes of a text that are read.
const LONGEST: u64 = 4096;

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
