//! Sessions: what a program, the environment or the control socket starts, changes and stops.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicPtr, AtomicU32};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{io, ptr};

use super::children;
use super::error::{Error, Step};
use super::filter::Filter;
use super::glob::Glob;
use super::maintenance;
use super::options::Options;
use super::recording::Recording;
use super::slot::SESSIONS;
use crate::forks::Anew;
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

/// What a session has done until now.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Status {
    /// The folder of the trace.
    pub directory: PathBuf,
    /// The folder of this process in it.
    pub folder: PathBuf,
    /// What it records.
    pub options: Options,
    /// How many rings were used: of so many threads at once.
    pub rings: usize,
    /// How many bytes were recorded, those that a circle has overwritten among them.
    pub bytes: u64,
    /// How many events were lost for want of room.
    pub discarded: u64,
    /// The snapshots that its triggers had it take, and [`trigger`](super::trigger): folders of traces.
    pub snapshots: Vec<PathBuf>,
    /// How many causes for snapshots got none: too many, too soon after another, or it could not be written.
    pub suppressed: u64,
}

/// What a snapshot holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The folder of this process in it.
    pub folder: PathBuf,
    /// Packets that were copied.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that threads took for new events before they were copied, and those before them.
    pub overwritten: u64,
}

/// What a session has done.
#[derive(Debug)]
#[non_exhaustive]
pub struct Summary {
    /// The last status.
    pub status: Status,
    /// What went wrong at the end; the trace can be read all the same.
    pub errors: Vec<Error>,
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
        if let Some(recording) = sessions().find(self) {
            without_file_size_signal(|| recording.change(probes, filter));
        }
    }

    /// What it has done until now. `None` in a forked child, which does not go on with the sessions of its parent.
    pub fn status(&self) -> Option<Status> {
        sessions().find(self).map(|recording| recording.status())
    }

    /// Writes what the circles of a session that overwrites hold now into `directory`, as a trace; recording goes on. `None` in
    /// a forked child.
    ///
    /// # Errors
    ///
    /// The session is not one that overwrites, or its trace cannot be written there.
    pub fn snapshot(&self, directory: impl AsRef<Path>) -> Option<Result<Snapshot, Error>> {
        sessions().find(self).map(|recording| without_file_size_signal(|| recording.snapshot(directory.as_ref())))
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
        let slot = sessions.slot(self)?;
        without_file_size_signal(|| sessions.recordings[slot].take().map(Recording::stop))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}

pub(super) struct Sessions {
    pub recordings: [Option<Recording>; SESSIONS],
    /// Whether there is a maintenance thread.
    pub is_tended: bool,
}

/// The number of a new session. It goes on in a forked child, whose thread has rings of the parent's.
fn next_generation() -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(0);
    // 0 is no session.
    LAST.fetch_add(1, Relaxed).wrapping_add(1).max(1)
}

/// The sessions of this process. A forked child begins with none: the lock may be anybody's there.
static ALL: Anew<AtomicPtr<Mutex<Sessions>>> = Anew::new(AtomicPtr::new(ptr::null_mut()));

/// Has every session of this process write down modules that have arrived. Blocks while the maintenance thread is in a round.
pub(super) fn tell_of_modules() {
    sessions().recordings.iter_mut().flatten().for_each(Recording::tell_of_modules);
}

/// The sessions of this process, locked. The lock is held by who starts, changes and stops, and by the maintenance thread;
/// never by a thread that fires.
pub(super) fn sessions() -> MutexGuard<'static, Sessions> {
    all().lock().unwrap_or_else(PoisonError::into_inner)
}

fn all() -> &'static Mutex<Sessions> {
    let mut all = ALL.load(Acquire);
    if all.is_null() {
        let new =
            Box::into_raw(Box::new(Mutex::new(Sessions { recordings: [const { None }; SESSIONS], is_tended: false })));
        all = match ALL.compare_exchange(ptr::null_mut(), new, AcqRel, Acquire) {
            Ok(_) => new,
            Err(other) => {
                // SAFETY: made above, and nobody has seen it.
                drop(unsafe { Box::from_raw(new) });
                other
            }
        };
    }
    // SAFETY: made of a box, and never freed.
    unsafe { &*all }
}

impl Sessions {
    fn slot(&self, session: &Session) -> Option<usize> {
        let is_it = |recording: &Recording| recording.generation() == session.generation;
        self.recordings.iter().position(|recording| recording.as_ref().is_some_and(is_it))
    }

    fn find(&mut self, session: &Session) -> Option<&mut Recording> {
        let slot = self.slot(session)?;
        self.recordings[slot].as_mut()
    }
}

/// Has the kernel take the sessions from each forked child. `false` where it does not.
pub(super) fn wipe_in_children() -> bool {
    ALL.wipe_in_children()
}

/// A forked child has no sessions.
///
/// # Safety
///
/// The caller is the child's only thread.
pub(super) unsafe fn forget() {
    // SAFETY: as the caller promises.
    unsafe { ALL.forget() };
}
