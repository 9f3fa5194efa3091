//! The flight recorder of one session, as the maintenance thread has it: which requests get a snapshot, where snapshots
//! are, and what got none.
//!
//! A request finds the events before it in the circles: it is counted after they were recorded, and the snapshot is begun
//! after it was counted. Requests that come before a snapshot is begun share it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::{Duration, Instant};

use dyntrace_folders::Folder;

use super::cause::{CAUSES, Cause};
use super::error::{Error, Step};
use super::folder::{self, Made};
use super::options::{Mode, Options};
use super::panic;
use super::slot::SLOTS;

/// The pause between two snapshots of one cause: what comes meanwhile is most often the same trouble.
const PAUSE: Duration = Duration::from_secs(10);

pub(super) struct Flight {
    slot: usize,
    /// Where snapshots are to be.
    folder: PathBuf,
    /// What their names begin with.
    process: String,
    limit: u32,
    causes: [Progress; CAUSES],
    /// Snapshots that were taken.
    pub snapshots: Vec<PathBuf>,
    /// Requests that got none.
    pub suppressed: u64,
    /// How many of those the channel has told.
    told: u64,
    tells_after: Option<Instant>,
}

/// How far the requests of one cause have been dealt with.
#[derive(Clone, Copy)]
struct Progress {
    requests: u64,
    snapshots: u32,
    rests_until: Option<Instant>,
}

impl Flight {
    /// For a session that records into `process_folder`.
    pub fn new(slot: usize, process_folder: &Path, options: &Options) -> Flight {
        let causes = Cause::ALL.map(|cause| Progress {
            // Those before belong to another session.
            requests: SLOTS[slot].requests[cause as usize].load(Acquire),
            snapshots: 0,
            rests_until: None,
        });
        Flight {
            slot,
            folder: options.snapshots_directory(),
            process: process_folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            limit: options.triggers.snapshots,
            causes,
            snapshots: Vec::new(),
            suppressed: 0,
            told: 0,
            tells_after: None,
        }
    }

    /// Makes what the triggers of the options need, so that it is said at once where that cannot be had.
    pub fn equip(&self, options: &Options) -> Result<(), Error> {
        if options.triggers.any() {
            folder::make_all(&self.folder)?;
        }
        if options.triggers.on_panic {
            panic::install_hook().map_err(|error| Error::new(Step::Panic, &self.folder, error))?;
        }
        Ok(())
    }

    /// Has threads tell it of what the options ask for.
    pub fn begin(&self, options: &Options) {
        Cause::Slow.tell(self.slot, options.triggers.slower.is_some());
        Cause::Panic.tell(self.slot, options.triggers.on_panic);
        Cause::Asked.tell(self.slot, options.mode == Mode::Overwrite);
    }

    /// Nobody tells it anything any more. Takes the folder away if it was made for nothing.
    pub fn end(&self) {
        Cause::ALL.iter().for_each(|cause| cause.tell(self.slot, false));
        // Else there is something in it, or it was never made.
        let _ = dyntrace_folders::remove_empty(&self.folder);
    }

    /// The requests of a cause that have come since.
    pub fn requests(&mut self, cause: Cause) -> u64 {
        // Acquire: with the Release of who notes one, so that the snapshot has what was recorded before.
        let requests = SLOTS[self.slot].requests[cause as usize].load(Acquire);
        requests - std::mem::replace(&mut self.causes[cause as usize].requests, requests)
    }

    /// Whether there may be a snapshot for it now.
    pub fn allows(&self, cause: Cause) -> bool {
        let progress = &self.causes[cause as usize];
        progress.snapshots < self.limit && progress.rests_until.is_none_or(|until| until <= Instant::now())
    }

    /// A new folder for a snapshot, out of the sight of who looks for whole ones.
    pub fn prepare(&self) -> Result<Made, Error> {
        let holder = folder::make_all(&self.folder)?;
        let name = self.unfinished();
        // One that could not be written, or that another process of that name did not end.
        let _ = holder.remove_all(&name);
        let folder = folder::make_private(&holder, &name)?;
        Ok(Made { holder, folder })
    }

    /// The name of a snapshot that is being written.
    fn unfinished(&self) -> String {
        format!(".{}", self.process)
    }

    /// Gives a snapshot that is whole its name in its folder.
    pub fn keep(&mut self, holder: &Folder, cause: Cause) -> Result<PathBuf, Error> {
        let name = |number: usize| format!("{}-{number}-{}", self.process, cause.name());
        let mut number = self.snapshots.len() + 1;
        loop {
            match holder.rename(self.unfinished(), name(number)) {
                // Of a process that had the same number and is over.
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => number += 1,
                Err(error) => return Err(Error::new(Step::Snapshot, self.folder.join(name(number)), error)),
                Ok(()) => break,
            }
        }
        let kept = self.folder.join(name(number));
        self.causes[cause as usize].snapshots += 1;
        self.snapshots.push(kept.clone());
        Ok(kept)
    }

    /// There was a snapshot for a cause, or none could be written: the next one has to wait.
    pub fn rest(&mut self, cause: Cause) {
        self.causes[cause as usize].rests_until = Some(Instant::now() + PAUSE);
    }

    /// Says that the requests of a cause until now have been dealt with, and that so many of them got no snapshot.
    pub fn answer(&mut self, cause: Cause, suppressed: u64) {
        let progress = &self.causes[cause as usize];
        self.suppressed += suppressed;
        // Release: with the Acquire of a thread that panics and waits for its snapshot.
        SLOTS[self.slot].answered[cause as usize].store(progress.requests, Release);
    }

    /// How many suppressed requests the channel is to be told of, now and then or `at_once`.
    pub fn untold(&mut self, at_once: bool) -> u64 {
        let now = Instant::now();
        if self.suppressed == self.told || !at_once && self.tells_after.is_some_and(|after| now < after) {
            return 0;
        }
        self.tells_after = Some(now + PAUSE);
        self.suppressed - std::mem::replace(&mut self.told, self.suppressed)
    }
}
