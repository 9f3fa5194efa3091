//! What came of making the program's probes known to the system.

use std::fmt;
use std::io;

/// Whether the system knows of this program's probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Registration {
    /// The program's probes are known to DTrace.
    Registered,
    /// Nothing is to be done: tracers of this system find the probes in the program's file, or the program has none.
    NotNeeded,
    /// This system has no DTrace, or its module is not loaded.
    NoDevice,
    /// DTrace's device refused with this error number.
    Refused(i32),
    /// DTrace's daemon on Linux would take this thread for another process: only the program's first thread can ask.
    OtherThread,
}

impl Registration {
    /// Whether tracers can find the probes.
    pub fn is_traceable(self) -> bool {
        matches!(self, Registration::Registered | Registration::NotNeeded)
    }
}

impl fmt::Display for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Registration::Registered => f.write_str("the probes are registered with DTrace"),
            Registration::NotNeeded => f.write_str("probes need no registration here"),
            Registration::NoDevice => f.write_str(
                "there is no DTrace to register probes with; load its kernel module (on Linux, start dtprobed)",
            ),
            Registration::Refused(errno) => {
                let error = io::Error::from_raw_os_error(*errno);
                write!(f, "DTrace did not take the probes: {error}; see who may open /dev/dtrace/helper")
            }
            Registration::OtherThread => {
                f.write_str("DTrace's daemon takes threads for processes; register on the program's first thread")
            }
        }
    }
}
