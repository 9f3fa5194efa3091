//! The result of a registration.

use std::fmt;
use std::io;

/// Whether the system knows this program's probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Registration {
    /// DTrace knows the program's probes.
    Registered,
    /// Not needed: tracers of this system find the probes in the program's file, or the program has none.
    NotNeeded,
    /// This system has no DTrace, or its module is not loaded.
    NoDevice,
    /// DTrace's device refused with this error number.
    Refused(i32),
    /// DTrace's daemon on Linux identifies processes by thread number: only the program's first thread can register.
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
                "cannot register probes: there is no DTrace; load its kernel module (on Linux, start dtprobed)",
            ),
            Registration::Refused(errno) => {
                let error = io::Error::from_raw_os_error(*errno);
                write!(f, "cannot register probes: DTrace refused: {error}; check the permissions of /dev/dtrace/helper")
            }
            Registration::OtherThread => {
                f.write_str("cannot register probes on this thread: DTrace's daemon on Linux takes threads for processes; register on the program's first thread")
            }
        }
    }
}
