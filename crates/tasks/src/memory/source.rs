//! Where a program's memory is: in a running process, or in a core file.

use std::ops::Range;
use std::sync::Arc;

use super::core_file::CoreFile;
use super::live::Process;
use super::maps::Mapping;
use super::resident::Resident;
use super::{Memory, Piece, Unreadable};
use crate::error::Error;
use crate::future::monotonic_now;

/// A program's memory.
#[derive(Debug)]
pub enum Source {
    /// Of a running process.
    Process(Process),
    /// Of a program that has ended.
    Core(Box<CoreFile>),
}

impl Source {
    /// Returns the process, if the program is running.
    #[must_use]
    pub fn process(&self) -> Option<&Process> {
        match self {
            Source::Process(process) => Some(process),
            Source::Core(_) => None,
        }
    }

    /// Fails if the process has ended while it is read.
    ///
    /// # Errors
    ///
    /// As [`Process::check`].
    pub fn check(&self) -> Result<(), Error> {
        self.process().map_or(Ok(()), Process::check)
    }

    /// Returns the mappings as they are now.
    ///
    /// # Errors
    ///
    /// If the process has ended, or the kernel refuses.
    pub fn mappings(&self) -> Result<Arc<Vec<Mapping>>, Error> {
        match self {
            Source::Process(process) => process.mappings(),
            Source::Core(core) => Ok(Arc::new(core.mappings())),
        }
    }

    /// Opens the kernel's table of present pages.
    ///
    /// # Errors
    ///
    /// If the process has ended, or the kernel refuses.
    pub fn present(&self) -> Result<Present<'_>, Error> {
        Ok(match self {
            Source::Process(process) => Present::Process(Resident::open(process)?),
            Source::Core(core) => Present::Core(core),
        })
    }

    /// Returns `CLOCK_MONOTONIC` at the time of the reading. A core file does not have it.
    #[must_use]
    pub fn now(&self) -> Option<u64> {
        self.process().map(|_| monotonic_now())
    }

    /// Returns the memory of the program that could not be read, in words.
    #[must_use]
    pub fn unread(&self) -> Vec<String> {
        match self {
            Source::Process(process) => match process.left_out() {
                0 => Vec::new(),
                count => vec![format!(
                    "pages of {count} mapped files were not read: a server has them (FUSE, NFS and the like), which may never answer"
                )],
            },
            Source::Core(core) => core.unread(),
        }
    }

    /// Returns the memory that could not be read, in sentences for the user.
    pub(crate) fn gaps(&self) -> impl Iterator<Item = String> {
        self.unread().into_iter().map(|gap| format!("Tasks may be missing: {gap}."))
    }

    /// Returns the gaps of what was read, in sentences for the user.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.gaps().collect();
        if let Source::Core(core) = self {
            notes.insert(0, "A core file does not have the time: when timers are due is not known.".to_owned());
            notes.extend(core.remarks.iter().cloned());
        }
        notes
    }
}

impl Memory for Source {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
        match self {
            Source::Process(process) => process.read(address, bytes),
            Source::Core(core) => core.read(address, bytes),
        }
    }

    fn read_pieces(&self, pieces: &[Piece], take: &mut dyn FnMut(usize, Option<&[u8]>)) {
        match self {
            Source::Process(process) => process.read_pieces(pieces, take),
            Source::Core(core) => core.read_pieces(pieces, take),
        }
    }
}

/// Reads the present pages of mappings.
#[derive(Debug)]
pub enum Present<'a> {
    /// Of a running process.
    Process(Resident<'a>),
    /// Those that a core file has.
    Core(&'a CoreFile),
}

impl Present<'_> {
    /// Passes each present piece of `range` to `take`, as [`Resident::read`] does.
    ///
    /// # Errors
    ///
    /// If the process has ended.
    pub fn read(&mut self, range: &Range<u64>, take: impl FnMut(u64, &[u8])) -> Result<u64, Error> {
        match self {
            Present::Process(resident) => resident.read(range, take),
            Present::Core(core) => Ok(core.present(range, take)),
        }
    }

    /// Returns parts of stacks that are known without their descriptors.
    #[must_use]
    pub fn stacks(&self) -> Vec<Range<u64>> {
        match self {
            Present::Process(_) => Vec::new(),
            Present::Core(core) => core.stacks(),
        }
    }
}
