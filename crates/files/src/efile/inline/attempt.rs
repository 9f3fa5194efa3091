//! The result of an attempt.

use std::fs::File;
use std::io;

/// The most bytes that an attempt reads. Copying more would block the thread's other tasks for longer than waking an I/O thread takes.
pub(crate) const MAX_SIZE: usize = 64 << 10;

/// The result of an attempt.
pub(crate) type Attempt<T> = Result<T, Miss>;

/// Why an attempt returned no value.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "on systems without attempts, all are refused"))]
pub(crate) enum Miss {
    /// The operation failed, as it would in the pool.
    Error(io::Error),
    /// The caches do not have the answer, or the pool must find the error again.
    NotCached,
    /// The system does not support such attempts here.
    Refused,
    /// The type of the file system is not known yet, or whether its opens ask somebody. Finding out may take long, so a job does.
    Unknown { file: File, is_opened: bool },
}

impl From<io::Error> for Miss {
    fn from(error: io::Error) -> Miss {
        Miss::Error(error)
    }
}
