//! What can keep a trace from being read at all.

use std::io;
use std::path::{Path, PathBuf};

/// Why a trace could not be read or written. What is merely damaged is no error: see [`Losses`](crate::Losses).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no trace at the path.
    #[error("no trace in {}: neither it nor a folder in it has a file `metadata`; name the folder that the recorder wrote", path.display())]
    NoTrace {
        /// Where one was looked for.
        path: PathBuf,
    },
    /// The system refused something.
    #[error("cannot {doing} {}: {error}", path.display())]
    Io {
        /// What was being done to the file.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The metadata cannot be understood, so that nothing of this process can be read.
    #[error("{}:{line}: {reason}; without its metadata a trace cannot be read", path.display())]
    Metadata {
        /// The metadata file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
}

impl Error {
    /// For `map_err`: `doing` to `path` failed.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Error::Io { doing, path: path.to_owned(), error }
    }
}
