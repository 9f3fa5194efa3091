//! Sessions, as the program, the environment and the control socket start, change and stop them.

use std::io;
use std::path::Path;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use dyntrace_probes::host;
use dyntrace_probes::rings::slot::SESSIONS;
use dyntrace_probes::thread_progress::{self, os::without_file_size_signal};

use super::children;
use super::error::{Error, Step};
use super::filter::Filter;
use super::maintenance;
use super::options::Options;
use super::recording::Recording;
use super::sessions::sessions;
use super::status::{Snapshot, Status, Summary};
use crate::glob::Glob;

/// A recording session. It stops when it is dropped.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path();
/// use dyntrace::recorder::{Options, Session};
///
/// let session = Session::start(Options::new(directory))?;
/// dyntrace::p!(17, "recorded");
/// let summary = session.stop().unwrap();
/// assert_eq!(summary.status.discarded, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Session {
    /// Its number. A forked child uses none of its parent's numbers again.
    generation: u32,
}

impl Session {
    /// Creates the folder of the trace and its files, and starts to record.
    ///
    /// # Errors
    ///
    /// A folder or file cannot be created; 32 sessions are running already; no thread can be started; the options' triggers can never
    /// take a snapshot.
    pub fn start(options: Options) -> Result<Session, Error> {
        without_file_size_signal(|| Session::begin(options))
    }

    fn begin(options: Options) -> Result<Session, Error> {
        let directory = options.directory.clone();
        if host::is_guest() {
            let refused = host::refused("a recording", "start it in the program: it records the module's events, too");
            return Err(Error::new(Step::Sessions, &directory, refused));
        }
        if let Some(why) = options.idle_triggers() {
            return Err(Error::new(Step::Sessions, &directory, io::Error::new(io::ErrorKind::InvalidInput, why)));
        }
        thread_progress::prepare().map_err(|error| Error::new(Step::Fork, &directory, error))?;
        children::begin_anew().map_err(|error| Error::new(Step::Fork, &directory, error))?;
        let mut sessions = sessions();
        let Some(slot) = sessions.free_slot() else {
            let all = io::Error::other(format!("all {SESSIONS} sessions are in use; stop one"));
            return Err(Error::new(Step::Sessions, &directory, all));
        };
        let generation = next_generation();
        sessions.recordings[slot] = Some(Recording::start(slot, generation, options)?);
        if let Err(error) = maintenance::start(&mut sessions) {
            sessions.recordings[slot].take().map(Recording::stop);
            return Err(Error::new(Step::Thread, &directory, error));
        }
        Ok(Session { generation })
    }

    /// Changes which probes and which of their events are recorded.
    pub fn change(&self, probes: Vec<Glob>, filter: Filter) {
        if let Some(recording) = sessions().find(self.generation) {
            without_file_size_signal(|| recording.change(probes, filter));
        }
    }

    /// Returns the session's status; `None` in a forked child, which does not continue its parent's sessions.
    pub fn status(&self) -> Option<Status> {
        sessions().find(self.generation).map(|recording| recording.status())
    }

    /// Writes the present contents of an overwrite session's circular files into `directory`, as a trace. Recording continues. `None` in a
    /// forked child.
    ///
    /// # Errors
    ///
    /// The session is not in [`Mode::Overwrite`](super::Mode::Overwrite), or the trace cannot be written.
    pub fn snapshot(&self, directory: impl AsRef<Path>) -> Option<Result<Snapshot, Error>> {
        sessions()
            .find(self.generation)
            .map(|recording| without_file_size_signal(|| recording.snapshot(directory.as_ref())))
    }

    /// Stops the session. Blocks until no thread fires into its files, and cuts unused space off them. `None` in a forked child.
    pub fn stop(self) -> Option<Summary> {
        self.end()
    }

    /// Its number among the sessions of the process.
    pub(super) fn number(&self) -> u32 {
        self.generation
    }

    fn end(&self) -> Option<Summary> {
        let mut sessions = sessions();
        let slot = sessions.slot(self.generation)?;
        without_file_size_signal(|| sessions.recordings[slot].take().map(Recording::stop))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}

/// The number of a new session. A forked child continues the count: its thread still refers to rings of the parent.
fn next_generation() -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(0);
    // 0 is no session.
    LAST.fetch_add(1, Relaxed).wrapping_add(1).max(1)
}
