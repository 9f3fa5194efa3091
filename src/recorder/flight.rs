//! The flight recorder of one session: which requests get a snapshot, where snapshots are, and how many requests got none. Used by the
//! maintenance thread.
//!
//! A snapshot contains the events before its request: a thread counts the request after it has recorded them, and the snapshot begins
//! after the count is read. Requests counted before a snapshot begins share it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::{Duration, Instant};

use dyntrace_folders::Folder;
use dyntrace_probes::rings::cause::{CAUSES, Cause};
use dyntrace_probes::rings::mode::Mode;
use dyntrace_probes::rings::slot::SLOTS;

use super::error::{Error, Step};
use super::folder::{self, ProcessFolder};
use super::options::Options;
use super::panic;

/// The pause between two snapshots for one cause. Requests in between most often have the same reason.
const PAUSE: Duration = Duration::from_secs(10);

pub(super) struct Flight {
    slot: usize,
    /// The folder of snapshots.
    folder: PathBuf,
    /// The beginning of their names.
    process: String,
    limit: u32,
    causes: [Progress; CAUSES],
    /// Snapshots taken.
    pub snapshots: Vec<PathBuf>,
    /// Requests without a snapshot.
    pub suppressed: u64,
    /// How many of those the channel has reported.
    reported: u64,
    reports_after: Option<Instant>,
}

/// How many requests of one cause were handled.
#[derive(Clone, Copy)]
struct Progress {
    requests: u64,
    snapshots: u32,
    pauses_until: Option<Instant>,
}

impl Flight {
    /// For a session that records into `process_folder`.
    pub fn new(slot: usize, process_folder: &Path, options: &Options) -> Flight {
        let causes = Cause::ALL.map(|cause| Progress {
            // Earlier ones belong to another session.
            requests: SLOTS[slot].requests[cause as usize].load(Acquire),
            snapshots: 0,
            pauses_until: None,
        });
        Flight {
            slot,
            folder: options.snapshots_directory(),
            process: process_folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            limit: options.triggers.snapshots,
            causes,
            snapshots: Vec::new(),
            suppressed: 0,
            reported: 0,
            reports_after: None,
        }
    }

    /// Creates the folder and installs the panic hook, if the options need them, so that errors are reported when the session starts.
    pub fn prepare(&self, options: &Options) -> Result<(), Error> {
        if options.triggers.any() {
            folder::make_all(&self.folder)?;
        }
        if options.triggers.on_panic {
            panic::install_hook().map_err(|error| Error::new(Step::Panic, &self.folder, error))?;
        }
        Ok(())
    }

    /// Subscribes the session to the causes that its options name.
    pub fn subscribe(&self, options: &Options) {
        Cause::Slow.subscribe(self.slot, options.triggers.slower.is_some());
        Cause::Panic.subscribe(self.slot, options.triggers.on_panic);
        Cause::Asked.subscribe(self.slot, options.mode == Mode::Overwrite);
    }

    /// Ends the subscriptions, and removes the folder if it is empty.
    pub fn unsubscribe(&self) {
        Cause::ALL.iter().for_each(|cause| cause.subscribe(self.slot, false));
        // It fails if the folder holds snapshots or was never created.
        let _ = dyntrace_folders::remove_empty(&self.folder);
    }

    /// The number of new requests.
    pub fn requests(&mut self, cause: Cause) -> u64 {
        // Acquire: with the Release of `Cause::request`, so that the snapshot has the events recorded before.
        let requests = SLOTS[self.slot].requests[cause as usize].load(Acquire);
        requests - std::mem::replace(&mut self.causes[cause as usize].requests, requests)
    }

    /// Whether the limits allow a snapshot now.
    pub fn allows(&self, cause: Cause) -> bool {
        let progress = &self.causes[cause as usize];
        progress.snapshots < self.limit && progress.pauses_until.is_none_or(|until| until <= Instant::now())
    }

    /// Creates a folder for a snapshot, with a hidden name while it is incomplete.
    pub fn create_folder(&self) -> Result<ProcessFolder, Error> {
        let holder = folder::make_all(&self.folder)?;
        let name = self.unfinished();
        // A leftover of a failed snapshot, or of a killed process of that name.
        let _ = holder.remove_all(&name);
        let folder = folder::make_private(&holder, &name)?;
        Ok(ProcessFolder { holder, folder })
    }

    /// The name of an incomplete snapshot.
    fn unfinished(&self) -> String {
        format!(".{}", self.process)
    }

    /// Gives a complete snapshot its name.
    pub fn publish(&mut self, holder: &Folder, cause: Cause) -> Result<PathBuf, Error> {
        let name = |number: usize| format!("{}-{number}-{}", self.process, cause.name());
        let mut number = self.snapshots.len() + 1;
        loop {
            match holder.rename(self.unfinished(), name(number)) {
                // A snapshot of an earlier process with the same number. POSIX has both errors for it; XFS gives the second.
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists) =>
                {
                    number += 1;
                }
                Err(error) => return Err(Error::new(Step::Snapshot, self.folder.join(name(number)), error)),
                Ok(()) => break,
            }
        }
        let path = self.folder.join(name(number));
        self.causes[cause as usize].snapshots += 1;
        self.snapshots.push(path.clone());
        Ok(path)
    }

    /// Starts the pause after a snapshot was taken or failed.
    pub fn start_pause(&mut self, cause: Cause) {
        self.causes[cause as usize].pauses_until = Some(Instant::now() + PAUSE);
    }

    /// Marks the requests of a cause as handled; `suppressed` of them got no snapshot.
    pub fn mark_handled(&mut self, cause: Cause, suppressed: u64) {
        let progress = &self.causes[cause as usize];
        self.suppressed += suppressed;
        // Release: with the Acquire of a panicking thread that waits for its snapshot.
        SLOTS[self.slot].handled[cause as usize].store(progress.requests, Release);
    }

    /// Takes the number of suppressed requests that the channel has not reported; 0 within a pause of the last report, unless `at_once`.
    pub fn take_unreported(&mut self, at_once: bool) -> u64 {
        let now = Instant::now();
        if self.suppressed == self.reported || !at_once && self.reports_after.is_some_and(|after| now < after) {
            return 0;
        }
        self.reports_after = Some(now + PAUSE);
        self.suppressed - std::mem::replace(&mut self.reported, self.suppressed)
    }
}
