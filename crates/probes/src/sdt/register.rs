//! Registration of the program's probes, on systems whose tracers do not read them from the program's file.

use super::registration::Registration;

/// Registers the probes of this program with DTrace, and returns the result.
///
/// Only FreeBSD, illumos, Solaris and NetBSD need it, and Linux with the feature `dof`; elsewhere it does nothing. Each program and shared
/// object registers itself before `main`, or when it is loaded, and deregisters at its end. Call this for the result, and to try again
/// after a failure. It registers the program or shared object that this copy of the crate is linked into. Once it has succeeded, further
/// calls do nothing.
///
/// On Linux only a program's first thread can register. A shared object loaded by another thread, such as a module of
/// `dyntrace::code`, is registered once a function in it calls this on the first thread.
///
/// ```
/// let status = dyntrace_probes::sdt::register();
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

/// Undoes [`register`], and the registration at start.
///
/// Returns `NotNeeded` when DTrace no longer knows the probes. On Linux, probes of a shared object that another thread than the first one
/// unloads stay registered until the process ends.
pub fn deregister() -> Registration {
    #[cfg(dof)]
    return super::dof::deregister();
    #[cfg(not(dof))]
    Registration::NotNeeded
}
