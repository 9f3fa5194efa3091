//! Errors of writing and reading a data set.

use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;

/// An error of writing or reading a data set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed.
    #[error("cannot {doing} {}: {error}", path.display())]
    Io {
        /// The failed action, such as "create the folder".
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A table could not be written.
    #[error("cannot write {}: {error}", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// The problem.
        error: ParquetError,
    },
    /// A table could not be read.
    #[error("cannot read the table {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The problem.
        error: ParquetError,
    },
    /// A plan cannot be used.
    #[error("{}: {reason}", path.display())]
    Plan {
        /// The file of the plan.
        path: PathBuf,
        /// The problem, and the way out.
        reason: String,
    },
    /// The times of the source's events are in too many hours.
    #[error("times of the events are in more than {limit} hours, so they cannot be right")]
    Hours {
        /// The most files of a range.
        limit: usize,
    },
}

impl Error {
    /// Returns a function for `map_err`: the action `doing` failed on `path`.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Error::Io { doing, path: path.to_owned(), error }
    }

    pub(crate) fn read(path: &Path) -> impl FnOnce(ParquetError) -> Self {
        move |error| Error::Read { path: path.to_owned(), error }
    }

    pub(crate) fn table(path: &Path) -> impl FnOnce(ParquetError) -> Self {
        move |error| Error::Table { path: path.to_owned(), error }
    }
}
