//! Sessions: what a program, the environment or the control socket starts, changes and stops.

use std::io;
use std::path::Path;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use super::children;
use super::error::{Error, Step};
use super::filter::Filter;
use super::maintenance;
use super::options::Options;
use super::recording::Recording;
use super::sessions::sessions;
use super::slot::SESSIONS;
use super::status::{Snapshot, Status, Summary};
use crate::glob::Glob;
use crate::host;
use crate::thread_progress::{self, os::without_file_size_signal};

/// A recording session. Dropped, it stops.
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
    /// No session of a forked child has the number of one of its parent's.
    generation: u32,
}

impl Session {
    /// Makes the folder of the trace and its files, and begins to record.
    ///
    /// # Errors
    ///
    /// A folder or file that cannot be made, 32 sessions that are there already, no memory for a thread; triggers that would never
    /// do anything.
    pub fn start(options: Options) -> Result<Session, Error> {
        without_file_size_signal(|| Session::begin(options))
    }

    fn begin(options: Options) -> Result<Session, Error> {
        let directory = options.directory.clone();
        if host::is_guest() {
            let refused = host::refused("a recording", "start it in the program: it has the module's events, too");
            return Err(Error::new(Step::Sessions, &directory, refused));
        }
        if let Some(why) = options.idle_triggers() {
            return Err(Error::new(Step::Sessions, &directory, io::Error::new(io::ErrorKind::InvalidInput, why)));
        }
        thread_progress::prepare().map_err(|error| Error::new(Step::Fork, &directory, error))?;
        children::begin_anew().map_err(|error| Error::new(Step::Fork, &directory, error))?;
        let mut sessions = sessions();
        let Some(slot) = sessions.recordings.iter().position(Option::is_none) else {
            let all = io::Error::other(format!("all {SESSIONS} are taken; stop one"));
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

    /// Records other probes, or others of their events, from now on.
    pub fn change(&self, probes: Vec<Glob>, filter: Filter) {
        if let Some(recording) = sessions().find(self.generation) {
            without_file_size_signal(|| recording.change(probes, filter));
        }
    }

    /// What it has done until now. `None` in a forked child, which does not go on with the sessions of its parent.
    pub fn status(&self) -> Option<Status> {
        sessions().find(self.generation).map(|recording| recording.status())
    }

    /// Writes what the circles of a session that overwrites hold now into `directory`, as a trace; recording goes on. `None` in
    /// a forked child.
    ///
    /// # Errors
    ///
    /// The session is not one that overwrites, or its trace cannot be written there.
    pub fn snapshot(&self, directory: impl AsRef<Path>) -> Option<Result<Snapshot, Error>> {
        sessions()
            .find(self.generation)
            .map(|recording| without_file_size_signal(|| recording.snapshot(directory.as_ref())))
    }

    /// Stops, and waits until the files are whole: no thread fires into them any more, and what was prepared and not used
    /// is cut off. `None` in a forked child.
    pub fn stop(self) -> Option<Summary> {
        self.end()
    }

    /// Its number among all sessions of the process.
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

/// The number of a new session. It goes on in a forked child, whose thread has rings of the parent's.
fn next_generation() -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(0);
    // 0 is no session.
    LAST.fetch_add(1, Relaxed).wrapping_add(1).max(1)
}
