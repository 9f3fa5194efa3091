//! Errors of reading and writing traces.

use std::io;
use std::path::{Path, PathBuf};

/// An error of reading or writing a trace. Damage in a readable trace is no error: see [`Losses`](crate::Losses).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no trace at the path.
    #[error("no trace in {}: neither it nor a folder in it has a file `metadata`; name the folder that the recorder wrote", path.display())]
    NoTrace {
        /// The searched folder.
        path: PathBuf,
    },
    /// A system call failed.
    #[error("cannot {doing} {}: {error}", path.display())]
    Io {
        /// The failed action, such as "open".
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The metadata of a process cannot be parsed, so none of its events can be read.
    #[error("{}:{line}: {reason}; a trace cannot be read without its metadata", path.display())]
    Metadata {
        /// The metadata file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The problem there.
        reason: String,
    },
}

impl Error {
    /// Returns a function for `map_err`: the action `doing` failed on `path`.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Error::Io { doing, path: path.to_owned(), error }
    }
}
