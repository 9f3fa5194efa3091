//! The operations of each task, independent of the peer.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use fastrand::Rng;

use crate::files::Files;
use crate::meter::Phase;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Operation {
    /// Read 4 KiB at a random offset of a cached file.
    Pread,
    /// Write 4 KiB at a random offset of a cached file.
    Pwrite,
    /// Open a file, ask for its metadata, close it.
    Ofc,
    /// Ask for the metadata of a path.
    Stat,
    /// Rename a file, there and back.
    Rename,
    /// Read a file of 16 KiB as a whole.
    Readfile,
    /// Append 4 KiB to a file of the task's own, then fdatasync.
    Append,
    /// The same, all tasks to one file.
    AppendShared,
}

pub struct Task {
    pub operation: Operation,
    files: Arc<Files>,
    phase: Arc<Phase>,
    random: Rng,
    before_each: Option<Box<dyn FnMut() + Send + Sync>>,
    done: u64,
    names: [PathBuf; 2],
    own: PathBuf,
    shared: PathBuf,
}

impl Task {
    /// Creates the file to rename.
    pub fn new(operation: Operation, number: usize, files: &Arc<Files>, phase: &Arc<Phase>) -> io::Result<Task> {
        let names = ["here", "there"].map(|name| files.own(number, name));
        if operation == Operation::Rename {
            File::create(&names[0])?;
        }
        Ok(Task {
            operation,
            phase: Arc::clone(phase),
            random: Rng::with_seed(number as u64),
            before_each: None,
            done: 0,
            names,
            own: files.own(number, "own"),
            shared: files.shared(),
            files: Arc::clone(files),
        })
    }

    /// Has `call` run before each operation, on the thread that makes it.
    pub fn before_each(&mut self, call: impl FnMut() + Send + Sync + 'static) {
        self.before_each = Some(Box::new(call));
    }

    /// Whether to run one more. Counts operations that ended in the measured time.
    pub fn goes_on(&mut self) -> bool {
        self.done += u64::from(self.phase.is_measured());
        let goes_on = !self.phase.is_over();
        if let Some(call) = self.before_each.as_mut().filter(|_| goes_on) {
            call();
        }
        goes_on
    }

    /// Returns the counted operations.
    pub fn done(&self) -> u64 {
        self.done
    }

    pub fn offset(&mut self) -> u64 {
        Files::random_offset(&mut self.random)
    }

    pub fn blocks(&self) -> &Path {
        &self.files.blocks
    }

    pub fn small(&mut self) -> &Path {
        self.random.choice(&self.files.smalls).expect("there are small files")
    }

    /// Returns the old and the new name of the next rename.
    pub fn names(&mut self) -> (&Path, &Path) {
        self.names.reverse();
        (&self.names[1], &self.names[0])
    }

    /// Returns the file to append to.
    pub fn tail(&self) -> &Path {
        if self.operation == Operation::Append { &self.own } else { &self.shared }
    }
}
