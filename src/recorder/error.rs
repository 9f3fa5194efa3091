use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::thread_progress::Late;

/// Why a session could not be started, or not be ended as it should.
#[derive(Debug)]
pub struct Error {
    step: Step,
    path: PathBuf,
    source: io::Error,
}

/// What was being done.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Sessions,
    Folder,
    Random,
    File,
    Metadata,
    Thread,
    Fork,
    Snapshot,
    Panic,
    Wait,
    Finish,
}

impl Error {
    pub(super) fn new(step: Step, path: impl AsRef<Path>, source: io::Error) -> Error {
        Error { step, path: path.as_ref().to_owned(), source }
    }

    /// Threads do not come out of a firing.
    pub(super) fn late(folder: &Path, late: Late) -> Error {
        Error::new(Step::Wait, folder, io::Error::other(format!("threads do not come out of a firing: {late}")))
    }

    /// The error of the system.
    pub fn io(&self) -> &io::Error {
        &self.source
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Error { step, path, source } = self;
        let path = path.display();
        match step {
            Step::Sessions => write!(f, "no session can be started for {path}: {source}"),
            Step::Folder => write!(f, "the folder {path} of a trace cannot be made: {source}"),
            Step::Random => write!(f, "no identity for the trace {path}: {source}"),
            Step::File => write!(f, "the file {path} of a trace cannot be made: {source}"),
            Step::Metadata => write!(f, "the metadata of the trace {path} cannot be written: {source}"),
            Step::Thread => write!(f, "no maintenance thread for the trace {path}: {source}"),
            Step::Fork => write!(f, "no preparation for a fork while {path} is recorded: {source}"),
            Step::Snapshot => write!(f, "no snapshot can be written to {path}: {source}"),
            Step::Panic => write!(f, "no panic can be told of to take a snapshot into {path}: {source}"),
            Step::Wait => write!(f, "the trace {path} is left as it is, for `dyntrace recover`: {source}"),
            Step::Finish => write!(f, "what was prepared and not used cannot be cut off {path}: {source}"),
        }?;
        match source.raw_os_error() {
            Some(libc::ENOSPC | libc::EDQUOT) => f.write_str("; free space, or ask for less with `size=`"),
            Some(libc::EMFILE) => f.write_str("; allow more open files (ulimit -n)"),
            Some(libc::EROFS | libc::EACCES) => f.write_str("; name a directory that this user may write to"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
