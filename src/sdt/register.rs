//! Making the program's probes known to the system, where its tracers do not find them in the program's file.

use super::registration::Registration;

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
