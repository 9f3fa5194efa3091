//! Requests for snapshots by the program itself.

use dyntrace_probes::rings::cause::Cause;
use dyntrace_probes::rings::host;

/// Requests a snapshot of each session in [`Mode::Overwrite`](super::Mode::Overwrite), within the limits of
/// [`Triggers`](super::Triggers), into a folder beside the session's own.
///
/// For conditions that only the program can see. Does not wait, and may be called in a signal handler.
/// [`Session::snapshot`](super::Session::snapshot) takes one at once and returns the result.
///
/// ```
/// # let queue_length = 3;
/// if queue_length > 1000 {
///     dyntrace::recorder::trigger();
/// }
/// ```
pub fn trigger() {
    if let Some(host) = host::HOST.get() {
        return (host.trigger)();
    }
    Cause::Asked.subscribers().for_each(|session| {
        Cause::Asked.request(session);
    });
}
