//! Making the program's probes known to the system, where its tracers do not find them in the program's file.

use std::fmt;
use std::io;

/// Makes the probes of this program known to DTrace, and says how that went.
///
/// Only FreeBSD, illumos, Solaris and NetBSD need it, and Linux with the feature `dof`; elsewhere it does nothing. Each program
/// and shared object does it by itself before `main`, or when it is loaded, and takes it back when it ends or is unloaded: this
/// tells the result, and tries again where it failed. It speaks for the program or shared object that this copy of the crate is
/// linked into. Once it succeeded, further calls change nothing.
///
/// On Linux only a program's first thread can do it. So a shared object that another thread loads, as modules of
/// [`code`](crate::code) are, is known once a function of its own has called this on the first thread.
///
/// ```
/// let status = dyntrace::sdt::register();
/// if !status.is_traceable() {
///     eprintln!("running without probes: {status}");
/// }
/// ```
pub fn register() -> Registration {
    #[cfg(dof)]
    return super::dof::register();
    #[cfg(not(dof))]
    Registration::NotNeeded
}

/// Takes back what [`register`] did, and what was done at start.
///
/// Answers `NotNeeded` when DTrace no longer knows the probes. On Linux, what another thread than the first one unloads stays known
/// until the process ends.
pub fn deregister() -> Registration {
    #[cfg(dof)]
    return super::dof::deregister();
    #[cfg(not(dof))]
    Registration::NotNeeded
}

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
