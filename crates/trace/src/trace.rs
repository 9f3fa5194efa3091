//! Traces: the folders and files of one or more processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::error::Error;
use crate::losses::{Damage, Found, Losses};
use crate::map::Map;
use crate::merge::Events;
use crate::process::{METADATA, Process};
use crate::stream::{Stream, StreamFile};

/// How many folders deep processes are looked for.
const MAX_DEPTH: usize = 4;

/// A trace that was opened for reading.
///
/// It shows what had been recorded when it was opened; a program that is still recorded may go on meanwhile.
#[derive(Debug)]
pub struct Trace {
    processes: Vec<Process>,
    files: Vec<StreamFile>,
    /// What could not even be opened.
    unopened: Vec<Damage>,
}

impl Trace {
    /// Opens the trace in the folder `path`: that of one process, or one with such folders in it.
    ///
    /// ```
    /// use dyntrace_trace::Trace;
    ///
    /// let trace = Trace::open("tests/golden")?;
    /// for event in trace.events() {
    ///     println!("{} {} {:?}", event.time, event.class.probe(), event.field("user_tag"));
    /// }
    /// for damage in trace.losses().damaged {
    ///     eprintln!("{}: at byte {}: {}", damage.file.display(), damage.offset, damage.reason);
    /// }
    /// # Ok::<(), dyntrace_trace::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When there is no trace, or when no process's metadata can be read. A process or a file that cannot be read beside
    /// others that can is damage, by [`losses`](Self::losses).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_all(&[path])
    }

    /// Opens the traces in several folders as one.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), for each of them.
    pub fn open_all(paths: &[impl AsRef<Path>]) -> Result<Self, Error> {
        let mut trace = Self { processes: Vec::new(), files: Vec::new(), unopened: Vec::new() };
        let mut first_error = None;
        for path in paths {
            let path = path.as_ref();
            let folders = process_folders(path)?;
            if folders.is_empty() {
                return Err(Error::NoTrace { path: path.to_owned() });
            }
            for folder in folders {
                if let Err(error) = trace.add(&folder) {
                    trace.unopened.push(Damage { file: folder.join(METADATA), offset: 0, reason: error.to_string() });
                    first_error.get_or_insert(error);
                }
            }
        }
        match first_error {
            Some(error) if trace.processes.is_empty() => Err(error),
            _ => Ok(trace),
        }
    }

    fn add(&mut self, folder: &Path) -> Result<(), Error> {
        let process = Process::open(folder)?;
        for path in stream_files(folder)? {
            match Map::open(&path, process.metadata.format) {
                Ok(map) => self.files.push(StreamFile {
                    path,
                    map,
                    process: self.processes.len(),
                    found: Mutex::new(Found::default()),
                }),
                Err(error) => {
                    let reason = format!("cannot open it: {error}");
                    self.unopened.push(Damage { file: path, offset: 0, reason });
                }
            }
        }
        self.processes.push(process);
        Ok(())
    }

    /// The processes, in the order of their folders.
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// All events in the order of time. Its memory does not grow with the trace.
    pub fn events(&self) -> Events<'_> {
        Events::new(self.streams().map(|(file, process)| Stream::new(file, process)).collect())
    }

    /// What was lost. Complete once [`events`](Self::events) has been read to its end: it is reading that finds it.
    pub fn losses(&self) -> Losses {
        let mut losses = Losses { damaged: self.unopened.clone(), ..Losses::default() };
        for file in &self.files {
            file.found.lock().unwrap_or_else(PoisonError::into_inner).add_to(&mut losses, &file.path);
        }
        losses
    }

    pub(crate) fn streams(&self) -> impl Iterator<Item = (&StreamFile, &Process)> {
        self.files.iter().map(|file| (file, &self.processes[file.process]))
    }
}

/// The folders in and below `path` that have metadata, in the order of their names.
pub(crate) fn process_folders(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    let mut open = vec![(path.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        if folder.join(METADATA).is_file() {
            found.push(folder);
        } else if depth < MAX_DEPTH {
            let folders = entries(&folder)?.into_iter().filter(|entry| entry.is_dir() && !entry.is_symlink());
            open.extend(folders.map(|folder| (folder, depth + 1)));
        }
    }
    found.sort();
    Ok(found)
}

/// The files of events in the folder of a process, in the order of their names.
pub(crate) fn stream_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = entries(folder)?;
    files.retain(|path| path.file_name().is_some_and(|name| name != METADATA) && path.is_file());
    files.sort();
    Ok(files)
}

/// What is in a folder and not hidden.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let visible = |entry: &fs::DirEntry| !entry.file_name().as_encoded_bytes().starts_with(b".");
    fs::read_dir(folder)
        .and_then(|entries| {
            entries.filter(|entry| entry.as_ref().map_or(true, visible)).map(|entry| Ok(entry?.path())).collect()
        })
        .map_err(Error::io("read the folder", folder))
}
