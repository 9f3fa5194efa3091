//! `READ_FILE`: read_to_string.

use std::io;
use std::path::Path;

use super::read::read;

/// Reads a whole file into a string, in one operation; see [`std::fs::read_to_string`].
///
/// A file that is not UTF-8 is an error of kind [`InvalidData`](io::ErrorKind::InvalidData); for probes the READ_FILE succeeded.
pub async fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    let bytes = read(path).await?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}
