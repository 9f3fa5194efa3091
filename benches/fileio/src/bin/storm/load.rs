//! The files, and the operations of a task.

use std::fs::{self, File};
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dyntrace::fs as traced;
use fastrand::Rng;
use tempfile::TempDir;

use crate::stood::{Stood, watch};

const BLOCK: usize = 4096;
/// Of each large file.
const BLOCKS: usize = 8 << 10;
const SMALL: usize = 16 << 10;
const SMALLS: usize = 256;
pub const DIRECTORIES: usize = 16;

pub struct Files {
    folder: TempDir,
}

impl Files {
    pub fn prepare(directory: &Path) -> io::Result<Files> {
        let files = Files { folder: tempfile::tempdir_in(directory)? };
        for large in [files.hot(), files.cold()] {
            written(&large, BLOCKS * BLOCK)?;
        }
        for number in 0..SMALLS {
            written(&files.small(number), SMALL)?;
        }
        for number in 0..DIRECTORIES {
            let folder = files.directory(number, false);
            fs::create_dir(&folder)?;
            written(&folder.join("file"), 100)?;
        }
        Ok(files)
    }

    /// Stays in the page cache.
    fn hot(&self) -> PathBuf {
        self.folder.path().join("hot")
    }

    /// Leaves the page cache again and again.
    pub fn cold(&self) -> PathBuf {
        self.folder.path().join("cold")
    }

    /// Every second one leaves the page cache again and again.
    pub fn small(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("small-{}", number % SMALLS))
    }

    /// A directory has one of two names.
    pub fn directory(&self, number: usize, moved: bool) -> PathBuf {
        self.folder.path().join(format!("{}-{number}", if moved { "there" } else { "here" }))
    }

    pub fn scratch(&self) -> PathBuf {
        self.folder.path().join("scratch")
    }
}

/// On the disk: pages that wait to be written would not leave the cache.
fn written(path: &Path, length: usize) -> io::Result<()> {
    fs::write(path, vec![7; length])?;
    File::open(path)?.sync_all()
}

pub struct Task {
    files: Arc<Files>,
    random: Rng,
    buffers: Buffers,
}

/// Kept, as an allocator's lock would have threads wait, too.
struct Buffers {
    block: Vec<u8>,
    large: Vec<u8>,
}

impl Task {
    pub fn new(number: usize, files: &Arc<Files>) -> Task {
        let buffers = Buffers { block: vec![0; BLOCK], large: vec![0; 16 * BLOCK] };
        Task { files: Arc::clone(files), random: Rng::with_seed(number as u64), buffers }
    }

    /// Runs operations until it is over. With `measured`, measures their polls: of operations that were answered at once, and the others.
    pub async fn run(mut self, is_over: &AtomicBool, measured: bool) -> io::Result<[Stood; 2]> {
        let [mut answered, mut others] = [Stood::default(), Stood::default()];
        let (hot, cold) = (traced::File::open(self.files.hot()).await?, traced::File::open(self.files.cold()).await?);
        while !is_over.load(Ordering::Relaxed) {
            let operation = Operation::any(&mut self.random);
            let (files, random) = (Arc::clone(&self.files), self.random.clone());
            let done = operation.run(&files, &hot, &cold, &mut self.buffers, random);
            let file = match measured {
                true => watch(&mut answered, &mut others, done).await?,
                false => done.await?,
            };
            // Not measured: its CLOSE goes to the pool.
            drop(file);
            self.random.u64(..);
        }
        Ok([answered, others])
    }
}

#[derive(Clone, Copy)]
enum Operation {
    Hot,
    Cold,
    /// 64 KiB, the most that is tried.
    Large,
    Stat,
    StatMoving,
    Open,
    Readfile,
}

impl Operation {
    fn any(random: &mut Rng) -> Operation {
        use Operation::{Cold, Hot, Large, Open, Readfile, Stat, StatMoving};
        match random.u8(..100) {
            0..40 => Hot,
            40..50 => Cold,
            50..55 => Large,
            55..70 => Stat,
            70..80 => StatMoving,
            80..90 => Open,
            _ => Readfile,
        }
    }

    async fn run(
        self,
        files: &Files,
        hot: &traced::File,
        cold: &traced::File,
        buffers: &mut Buffers,
        mut random: Rng,
    ) -> io::Result<Option<traced::File>> {
        let small = random.usize(..SMALLS);
        match self {
            Operation::Hot => read(hot, &mut buffers.block, &mut random).await?,
            Operation::Cold => read(cold, &mut buffers.block, &mut random).await?,
            Operation::Large => read(hot, &mut buffers.large, &mut random).await?,
            Operation::Stat => drop(traced::metadata(files.small(small)).await?),
            Operation::StatMoving => {
                let path = files.directory(small % DIRECTORIES, random.bool()).join("file");
                // Half of the time it has the other name.
                traced::try_exists(path).await?;
            }
            Operation::Open => {
                let file = traced::File::open(files.small(small)).await?;
                file.metadata().await?;
                return Ok(Some(file));
            }
            Operation::Readfile => drop(traced::read(files.small(small)).await?),
        }
        Ok(None)
    }
}

async fn read(file: &traced::File, buffer: &mut Vec<u8>, random: &mut Rng) -> io::Result<()> {
    let size = buffer.len();
    let offset = random.usize(..BLOCKS - size / BLOCK) * BLOCK;
    let (count, back) = file.read_at(mem::take(buffer), offset as u64).await;
    *buffer = back;
    match count? {
        count if count == size => Ok(()),
        count => Err(io::Error::other(format!("{count} of {size} bytes read"))),
    }
}
