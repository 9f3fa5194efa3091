//! Errors of sessions.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use dyntrace_probes::rings::stream_file::NotMapped;
use dyntrace_probes::thread_progress::Late;

/// Why a session could not start, or could not end regularly.
#[derive(Debug)]
pub struct Error {
    step: Step,
    path: PathBuf,
    error: io::Error,
}

/// The step that failed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Sessions,
    Folder,
    Random,
    File,
    Map,
    Metadata,
    Thread,
    Fork,
    Snapshot,
    Read,
    Panic,
    Wait,
    Finish,
}

impl Error {
    pub(super) fn new(step: Step, path: impl AsRef<Path>, error: io::Error) -> Error {
        let path = path.as_ref().to_owned();
        match error.downcast::<NotMapped>() {
            Ok(NotMapped(errno)) => Error { step: Step::Map, path, error: errno.into() },
            Err(error) => Error { step, path, error },
        }
    }

    /// Threads did not finish firing in time.
    pub(super) fn late(folder: &Path, late: Late) -> Error {
        Error::new(Step::Wait, folder, io::Error::other(format!("threads did not finish firing: {late}")))
    }

    /// The system's error.
    pub fn io(&self) -> &io::Error {
        &self.error
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Error { step, path, error } = self;
        let path = path.display();
        match step {
            Step::Sessions => write!(f, "cannot start a session for {path}: {error}"),
            Step::Folder => write!(f, "cannot create the folder {path} of a trace: {error}"),
            Step::Random => write!(f, "cannot get random bytes for the uuid of the trace {path}: {error}"),
            Step::File => write!(f, "cannot create the file {path} of a trace: {error}"),
            Step::Map => write!(f, "cannot map the file {path} of a trace into shared memory: {error}"),
            Step::Metadata => write!(f, "cannot write the metadata of the trace {path}: {error}"),
            Step::Thread => write!(f, "cannot start the maintenance thread for the trace {path}: {error}"),
            Step::Fork => write!(f, "cannot prepare for forks while {path} is recorded: {error}"),
            Step::Snapshot => write!(f, "cannot write a snapshot to {path}: {error}"),
            Step::Read => write!(f, "cannot read {path}, a file of the trace that is recorded: {error}"),
            Step::Panic => write!(f, "cannot install the panic hook for snapshots in {path}: {error}"),
            Step::Wait => write!(f, "the trace {path} is left as it is, for `dyntrace recover`: {error}"),
            Step::Finish => write!(f, "cannot cut unused space off {path}: {error}"),
        }?;
        match error.raw_os_error() {
            Some(libc::ENODEV | libc::EINVAL) if matches!(step, Step::Map) => {
                f.write_str("; choose a directory on another file system: this one has no shared mappings")
            }
            Some(libc::ENOENT) if matches!(step, Step::Read) => {
                f.write_str("; it was removed: start another recording")
            }
            Some(libc::ENOSPC | libc::EDQUOT) => f.write_str("; free space, or set a smaller `size=`"),
            Some(libc::EMFILE) => f.write_str("; raise the limit of open files (ulimit -n)"),
            Some(libc::EROFS | libc::EACCES) => f.write_str("; choose a directory that this user may write to"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
