//! A program whose tasks are read: running, or in a core file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::census::{Census, Counter, again, census};
use crate::core_images;
use crate::debug_file;
use crate::error::Error;
use crate::image::{self, Image, images};
use crate::layout::Other;
use crate::listing::Runtime;
use crate::memory::Memory;
use crate::memory::core_file::CoreFile;
use crate::memory::live::Process;
use crate::memory::maps::Mapping;
use crate::memory::source::Source;
use crate::memory::stop::Stopped;
use crate::names;
use crate::vtables::{self, TaskVtable};

/// How a program is read.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The file with the program's debug information, or with its split units (`.dwp`), if it is not where debuggers look.
    pub debug_file: Option<PathBuf>,
    /// Stop the program while it is read.
    pub stop: bool,
}

/// A program, running or in a core file.
#[derive(Debug)]
pub struct Program {
    source: Source,
    images: Vec<Image>,
    vtables: Vec<TaskVtable>,
    options: Options,
    /// Files that were not searched for tasks, in sentences for the user.
    notes: Vec<String>,
    /// How its tokio differs from the versions that are known, as far as its images tell.
    other: Other,
}

impl Program {
    /// Finds the program's images and the vtables of its tasks. Does not stop or change the program.
    ///
    /// # Errors
    ///
    /// If there is no such process, the reader may not read it, or it is no tokio program; or if the debug file that
    /// the options name cannot be read or is of another build.
    pub fn attach(pid: u32, options: Options) -> Result<Program, Error> {
        let process = Process::open(pid)?;
        let (images, notes) = images(&process, &process.mappings()?)?;
        process.may_read()?;
        Program::of(Source::Process(process), images, options, notes)
    }

    /// Opens the core file `core` of the program `exe`. It need not lie where it was running.
    ///
    /// # Errors
    ///
    /// If `core` is no core file, or `exe` is not its program or no tokio program; or if the debug file that the options
    /// name cannot be read or is of another build.
    pub fn open_core(core: &Path, exe: &Path, options: Options) -> Result<Program, Error> {
        let mut core = CoreFile::open(core)?;
        let images = core_images::images(&mut core, exe)?;
        Program::of(Source::Core(Box::new(core)), images, options, Vec::new())
    }

    fn of(source: Source, mut images: Vec<Image>, options: Options, mut notes: Vec<String>) -> Result<Program, Error> {
        if let Some(path) = &options.debug_file {
            debug_file::give(path, &mut images)?;
        }
        let root = source.process().map(|process| process.proc("root"));
        let code = image::code(&images);
        let (mut all, mut other) = (Vec::new(), Other::default());
        for (index, image) in images.iter_mut().enumerate() {
            let found = vtables::search(&source, index, image, &code, root.as_deref(), &mut notes);
            let mut found = found.unwrap_or_else(|error| {
                notes.push(error.to_string());
                vtables::ImageVtables::default()
            });
            other.by_types |= found.other.by_types;
            other.gaps.append(&mut found.other.gaps);
            names::name(&source, image, &mut found.vtables);
            all.append(&mut found.vtables);
        }
        source.check()?;
        if let Source::Core(core) = &source
            && all.is_empty()
        {
            let gaps = source.unread();
            if !gaps.is_empty() {
                return Err(Error::CoreLacksMemory { path: core.path().to_owned(), gaps });
            }
        }
        if all.is_empty() {
            notes.extend(source.gaps());
            let path = images[0].path.clone();
            return Err(match other.gaps {
                gaps if gaps.is_empty() => Error::NoVtables { path, notes },
                gaps => Error::OtherLayout { path, gaps, notes },
            });
        }
        Ok(Program { source, images, vtables: all, options, notes, other })
    }

    /// Returns the program's memory.
    #[must_use]
    pub fn memory(&self) -> &Source {
        &self.source
    }

    /// Returns the program's file, then its libraries.
    #[must_use]
    pub fn images(&self) -> &[Image] {
        &self.images
    }

    /// Returns the vtables of all images.
    #[must_use]
    pub fn vtables(&self) -> &[TaskVtable] {
        &self.vtables
    }

    /// Stops the program until the guard is dropped, if the options say so.
    ///
    /// # Errors
    ///
    /// If the program cannot be stopped.
    pub fn stop(&self) -> Result<Option<Stopped<'_>>, Error> {
        let process = self.source.process().filter(|_| self.options.stop);
        process.map(Stopped::new).transpose()
    }

    /// Counts the program's tasks. `counter` reads the count of a runtime, by debug information;
    /// else it is found by its shape.
    ///
    /// # Errors
    ///
    /// If the program has ended, or the reader may not read it any more.
    pub fn census(&self, counter: Option<Counter<'_>>) -> Result<Census, Error> {
        let _stopped = self.stop()?;
        let mut census = self.count(counter)?;
        census.notes.extend(self.notes.iter().cloned());
        census.other_layout.extend(self.gaps().iter().cloned());
        Ok(census)
    }

    /// Tells how the program's tokio differs from the versions that are known: by its types, or by its tasks.
    ///
    /// # Errors
    ///
    /// As [`census`](Self::census).
    pub fn other_layout(&self) -> Result<Other, Error> {
        let mut other = self.other.clone();
        other.gaps.extend(self.count(None)?.other_layout);
        Ok(other)
    }

    /// Returns the files that were not searched for tasks, in sentences for the user.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    pub(crate) fn gaps(&self) -> &[String] {
        &self.other.gaps
    }

    /// Like [`census`](Self::census), without stopping the program, and without [`notes`](Self::notes) and [`gaps`](Self::gaps).
    pub(crate) fn count(&self, counter: Option<Counter<'_>>) -> Result<Census, Error> {
        // The heap has grown since the last look.
        census(&self.source, &self.vtables, &self.mappings()?, counter, &|| self.threads_without_polls())
    }

    /// Counts the tasks in the lists of these runtimes only, likewise. `known`: addresses of tasks that an earlier look has found.
    pub(crate) fn count_again(
        &self,
        (runtimes, known): (&[Runtime], &[u64]),
        counter: Option<Counter<'_>>,
    ) -> Result<Census, Error> {
        self.mappings()?;
        again(&self.source, &self.vtables, (runtimes, known), counter)
    }

    /// Returns the mappings as they are now.
    pub(crate) fn mappings(&self) -> Result<Arc<Vec<Mapping>>, Error> {
        if let Some(process) = self.source.process().filter(|_| !self.is_same_program()) {
            return Err(Error::Ended { pid: process.pid() });
        }
        self.source.mappings()
    }

    /// Whether the process still executes the program: `exec` changes neither its id nor its start time.
    fn is_same_program(&self) -> bool {
        let stands = |vtable: &TaskVtable| {
            let poll = vtable.poll.wrapping_add(self.images[vtable.image].bias);
            self.source.word(vtable.poll_at) == Ok(poll)
        };
        self.vtables.iter().any(stands)
    }
}
