//! Traces: the folders and files of one or more processes.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use dyntrace_folders::Reading;

use crate::circular;
use crate::clock::Clock;
use crate::error::Error;
use crate::losses::{Damage, Empty, Findings, Losses};
use crate::map::MappedFile;
use crate::merge::Events;
use crate::packet::{Checksum, SUB_BUFFER};
use crate::parts::Parts;
use crate::process::{METADATA, Process};
use crate::process_folder::{ProcessFolder, process_folders, stream_files};
use crate::stream::{Stream, StreamFile};

/// The file of the recorder's own events.
pub(crate) const CHANNEL: &str = "process";

/// The folder, in that of a process, of the rings in overwrite mode, which are circular files.
pub const RINGS: &str = ".rings";

/// A trace, opened for reading.
///
/// It has the events that were recorded before it was opened. The recording may go on meanwhile. The files of a recording in overwrite mode
/// are copied to memory when it is opened, with the newest events that they have then.
#[derive(Debug)]
pub struct Trace {
    processes: Vec<Process>,
    files: Vec<StreamFile>,
    /// Files and processes that could not be opened.
    unopened: Vec<Damage>,
    /// The folders, as the caller named them, and the processes in each.
    named: Vec<(PathBuf, Range<usize>)>,
}

impl Trace {
    /// Opens the trace in the folder `path`: the folder of one process, or one that contains such folders.
    ///
    /// ```
    /// use dyntrace_reader::Trace;
    ///
    /// let trace = Trace::open("tests/golden")?;
    /// for event in trace.events() {
    ///     println!("{} {} {:?}", event.time, event.class.probe(), event.field("user_tag"));
    /// }
    /// for damage in trace.losses().damaged {
    ///     eprintln!("{}: at byte {}: {}", damage.file.display(), damage.offset, damage.reason);
    /// }
    /// # Ok::<(), dyntrace_reader::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there is no trace, or no process's metadata can be read. If only some processes or files cannot be read,
    /// [`losses`](Self::losses) reports them as damage.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_all(&[path])
    }

    /// Opens the traces in several folders as one.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open), for each folder.
    pub fn open_all(paths: &[impl AsRef<Path>]) -> Result<Self, Error> {
        Self::open_from(paths, &|_file| 1)
    }

    /// The same, of a circular file from the packet on whose sequence `from` returns for its path.
    pub(crate) fn open_from(paths: &[impl AsRef<Path>], from: &dyn Fn(&Path) -> u64) -> Result<Self, Error> {
        let mut trace = Self { processes: Vec::new(), files: Vec::new(), unopened: Vec::new(), named: Vec::new() };
        let mut first_error = None;
        for path in paths {
            let path = path.as_ref();
            let places = process_folders(path)?;
            if places.is_empty() {
                return Err(Error::NoTrace { path: path.to_owned() });
            }
            let before = trace.processes.len();
            for place in places {
                let place = Arc::new(place);
                if let Err(error) = trace.add(&place, from) {
                    let reason = error.to_string();
                    trace.unopened.push(Damage { file: place.path.join(METADATA), offset: 0, bytes: 0, reason });
                    first_error.get_or_insert(error);
                }
            }
            trace.named.push((path.to_owned(), before..trace.processes.len()));
        }
        match first_error {
            Some(error) if trace.processes.is_empty() => Err(error),
            _ => Ok(trace),
        }
    }

    fn add(&mut self, place: &Arc<ProcessFolder>, from: &dyn Fn(&Path) -> u64) -> Result<(), Error> {
        let folder = place.open()?;
        let process = Process::open(&place.path, &folder)?;
        if let Some(reason) = process.damage {
            let (file, reason) = (place.path.join(METADATA), reason.to_owned());
            self.unopened.push(Damage { file, offset: 0, bytes: 0, reason });
        }
        self.files.extend(open_files(place, &folder, (self.processes.len(), &process), from, &mut self.unopened)?);
        self.processes.push(process);
        Ok(())
    }

    /// Returns the processes, in the order of their folders.
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// Converts times of the process with this index by another clock. The recorder measures its clock better and better and writes that
    /// into the metadata, so a later reader that must get the times of an earlier one needs its clock.
    pub fn set_clock(&mut self, process: usize, clock: Clock) {
        self.processes[process].clock = clock;
    }

    /// Returns all events in order of time. Its memory does not grow with the trace.
    pub fn events(&self) -> Events<'_> {
        Events::new(self.streams().map(|(file, process)| Stream::new(file, process)).collect())
    }

    /// Returns the events of one of its [`processes`](Self::processes) in parts, which a later run can read again.
    pub fn parts(&self, process: &Process) -> Parts<'_> {
        Parts::new(self.streams().filter(|(_, of)| ptr::eq(*of, process)))
    }

    /// Returns the losses found so far. They are complete once [`events`](Self::events) has been read to its end.
    pub fn losses(&self) -> Losses {
        let mut losses = Losses { damaged: self.unopened.clone(), ..Losses::default() };
        for file in &self.files {
            file.found
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .add_to(&mut losses, &file.path, |offset| file.map.origin(offset));
        }
        for process in 0..self.processes.len() {
            losses.damaged.extend(self.compare(process));
        }
        losses.empty = self.named.iter().filter_map(|(path, processes)| self.empty(path, processes)).collect();
        losses
    }

    /// Returns what is known of the trace in the folder `path`, if none of its processes has an event.
    fn empty(&self, path: &Path, processes: &Range<usize>) -> Option<Empty> {
        let mut ended = HashSet::new();
        let of_these = self.streams().filter(|(file, _)| processes.contains(&file.process));
        // The channels last: they are read to their ends, and a ring most often has an event at its beginning.
        let (channels, rings): (Vec<_>, Vec<_>) = of_these.partition(|(file, _)| file.path.ends_with(CHANNEL));
        for (file, process) in rings.into_iter().chain(channels) {
            let mut stream = Stream::new(file, process);
            while let Some(event) = stream.read() {
                if event.class.provider() != "recorder" {
                    return None;
                }
                if event.class.name == "recorder:end" {
                    ended.insert(file.process);
                }
            }
        }
        let is_ended = ended.len() == processes.len();
        (!processes.is_empty()).then(|| Empty { path: path.to_owned(), is_ended })
    }

    /// Returns damage that only a comparison of the files of a process shows.
    fn compare(&self, process: usize) -> Vec<Damage> {
        let mut damaged = Vec::new();
        // Circular files have no end that a recorder marks.
        let files = self.files.iter().filter(|file| file.process == process && !file.is_circular).map(|file| {
            let found = file.found.lock().unwrap_or_else(PoisonError::into_inner).clone();
            (file, found)
        });
        let files: Vec<(&StreamFile, Findings)> = files.filter(|(_, found)| found.is_read).collect();
        if !self.processes[process].metadata.format.checksums {
            return damaged;
        }
        let mut damage = |file: &StreamFile, reason: String| {
            damaged.push(Damage { file: file.path.clone(), offset: file.map.length(), bytes: 0, reason });
        };
        let is_ended = |found: &Findings| found.last.is_some_and(Checksum::is_last);
        let not_ended = "the recording was ended, but this file was not: packets at its end are missing";
        let (channel, rings): (Vec<_>, Vec<_>) =
            files.iter().partition(|(file, _)| file.path.file_name().is_some_and(|name| name == CHANNEL));
        // The recorder writes its last event into the channel, then ends the rings, and last the channel. It may do so while the files
        // are read one after the other: so one that seems not to be ended is looked at again.
        let process = &self.processes[process];
        if let Some((channel, found)) = channel.first() {
            if is_ended(found) {
                let not_ended_rings =
                    rings.iter().filter(|(ring, found)| !is_ended(found) && !ring.is_ended_now(process, found));
                not_ended_rings.for_each(|(ring, _)| damage(ring, not_ended.to_owned()));
            } else if rings.iter().any(|(_, found)| is_ended(found))
                && !found.has_end
                && !channel.is_ended_now(process, found)
                && !channel.has_end_now(process)
            {
                damage(channel, not_ended.to_owned());
            }
        }
        let mut of_ring = HashMap::new();
        for (ring, found) in &rings {
            let Some(number) = found.ring.filter(|number| *number > 0) else { continue };
            if let Some(other) = of_ring.insert(number, &ring.path) {
                damage(ring, format!("its packets have the ring number {number}, as those of {}", other.display()));
            }
        }
        damaged
    }

    pub(crate) fn streams(&self) -> impl Iterator<Item = (&StreamFile, &Process)> {
        self.files.iter().map(|file| (file, &self.processes[file.process]))
    }
}

/// Opens the event files in the folder of a process, which has this index in its trace; circular files last, each from the packet on whose
/// sequence `from` returns for its path. Files that cannot be opened are `damaged`.
pub(crate) fn open_files(
    place: &Arc<ProcessFolder>,
    folder: &Reading,
    (index, process): (usize, &Process),
    from: &dyn Fn(&Path) -> u64,
    damaged: &mut Vec<Damage>,
) -> Result<Vec<StreamFile>, Error> {
    let format = process.metadata.format;
    let damage = |file, offset, bytes, reason| Damage { file, offset, bytes, reason };
    let open = |name: &OsString| folder.file(name).and_then(|file| MappedFile::of(file, format));
    let plain = stream_files(&place.path, folder)?.into_iter();
    let mut opened: Vec<_> = plain.map(|name| (place.path.join(&name), open(&name), false)).collect();
    let at = place.path.join(RINGS);
    if folder.has_folder(RINGS).map_err(Error::io("look at", &at))? {
        let rings = folder.below(Path::new(RINGS)).map_err(Error::io("read the folder", &at));
        match rings.and_then(|rings| Ok((stream_files(&at, &rings)?, rings))) {
            Ok((names, rings)) => opened.extend(names.iter().map(|name| {
                let path = at.join(name);
                let ring = rings.file(name).and_then(|file| MappedFile::circular(&file, format));
                if let Ok(ring) = &ring
                    && let bytes @ 1.. = ring.length() % SUB_BUFFER
                {
                    let reason = "the file is cut within a packet; events of unknown threads may be missing".to_owned();
                    damaged.push(damage(path.clone(), ring.length() - bytes, bytes, reason));
                }
                let copy = ring.and_then(|ring| circular::unroll(&ring, from(&path)));
                (path, copy, true)
            })),
            Err(error) => damaged.push(damage(at, 0, 0, error.to_string())),
        }
    }
    let mut files = Vec::new();
    for (path, map, is_circular) in opened {
        match map {
            Ok(map) => {
                let (place, found) = (Arc::clone(place), Mutex::default());
                files.push(StreamFile { place, path, map, process: index, is_circular, found });
            }
            // A recorder removes the files that it has not used.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => damaged.push(damage(path, 0, 0, format!("cannot open the file: {error}"))),
        }
    }
    Ok(files)
}
