//! A task's files and its measure, independent of the API.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::ValueEnum;
use fastrand::Rng;

use crate::files::Files;
use crate::latency::Latencies;
use crate::meter::Phase;

/// Files in the directory that is listed.
pub const ENTRIES: usize = 1000;

/// Blocks are of 4 KiB, of a file of 64 MiB; pieces have 100 bytes; small files 16 KiB.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Use {
    SeekRead,
    SeekWrite,
    ReadAt,
    WriteAt,
    Rewind,
    #[value(name = "read-64k")]
    Read64k,
    /// Through a `BufReader`, 16 MiB in 4 KiB.
    Reader,
    Append,
    AppendFlush,
    /// The same, all tasks to one file.
    AppendOneFile,
    /// A block, then `sync_data`.
    AppendSync,
    /// Through a `BufWriter`, 1 MiB in 1 KiB.
    Writer,
    SetLen,
    SetPermissions,
    FileMetadata,
    TryClone,
    Open,
    Stat,
    Exists,
    ReadLink,
    Canonicalize,
    ReadSmall,
    #[value(name = "write-4k")]
    Write4k,
    #[value(name = "write-1m")]
    Write1m,
    /// To another name, and renamed.
    WriteRename,
    #[value(name = "copy-16k")]
    Copy16k,
    #[value(name = "copy-64m")]
    Copy64m,
    CreateRemove,
    Rename,
    LinkRemove,
    SymlinkRemove,
    MkdirRmdir,
    /// `create_dir_all` of three folders, a file in each, `remove_dir_all`.
    Trees,
    /// A directory of 1,000 files, with the type of each.
    ListTypes,
    /// The same, with the metadata of each.
    ListMetadata,
}

pub struct Task {
    pub used: Use,
    pub latencies: Latencies,
    files: Arc<Files>,
    directory: PathBuf,
    number: usize,
    phase: Arc<Phase>,
    random: Rng,
    began: Option<Instant>,
}

/// Creates the directory to list.
pub fn prepare(directory: &Path) -> io::Result<()> {
    let listed = listed(directory);
    if !listed.exists() {
        fs::create_dir(&listed)?;
        (0..ENTRIES).try_for_each(|number| fs::File::create(listed.join(format!("entry-{number}"))).map(drop))?;
    }
    Ok(())
}

fn listed(directory: &Path) -> PathBuf {
    directory.join("listed")
}

impl Task {
    pub fn new(used: Use, number: usize, files: &Arc<Files>, directory: &Path, phase: &Arc<Phase>) -> Task {
        Task {
            used,
            latencies: Latencies::default(),
            files: Arc::clone(files),
            directory: directory.to_owned(),
            number,
            phase: Arc::clone(phase),
            random: Rng::with_seed(number as u64),
            began: None,
        }
    }

    /// Whether to run one more. Notes an operation that ended in the measured time.
    pub fn goes_on(&mut self) -> bool {
        let now = Instant::now();
        if let Some(began) = self.began.replace(now).filter(|_| self.phase.is_measured()) {
            self.latencies.note(now - began);
        }
        !self.phase.is_over()
    }

    pub fn offset(&mut self) -> u64 {
        Files::random_offset(&mut self.random)
    }

    pub fn blocks(&self) -> PathBuf {
        self.files.blocks.clone()
    }

    pub fn small(&mut self) -> &Path {
        self.random.choice(&self.files.smalls).expect("there are small files")
    }

    /// Returns a name of the task's own; all are in one directory.
    pub fn own(&self, name: &str) -> PathBuf {
        self.files.own(self.number, name)
    }

    pub fn shared(&self) -> PathBuf {
        self.files.shared()
    }

    pub fn listed(&self) -> PathBuf {
        listed(&self.directory)
    }
}
