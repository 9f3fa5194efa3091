//! The files, and the operations of a task.

use std::fs::{self, File};
use std::io;
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
}

impl Task {
    pub fn new(number: usize, files: &Arc<Files>) -> Task {
        Task { files: Arc::clone(files), random: Rng::with_seed(number as u64) }
    }

    /// Runs operations until it is over. With `measured`, measures their polls: of operations that were answered at once, and the others.
    pub async fn run(mut self, is_over: &AtomicBool, measured: bool) -> io::Result<[Stood; 2]> {
        let [mut answered, mut others] = [Stood::default(), Stood::default()];
        let (hot, cold) = (traced::File::open(self.files.hot()).await?, traced::File::open(self.files.cold()).await?);
        while !is_over.load(Ordering::Relaxed) {
            let operation = Operation::any(&mut self.random);
            let (files, random) = (Arc::clone(&self.files), self.random.clone());
            let done = operation.run(&files, &hot, &cold, random);
            match measured {
                true => watch(&mut answered, &mut others, done).await?,
                false => done.await?,
            }
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

    async fn run(self, files: &Files, hot: &traced::File, cold: &traced::File, mut random: Rng) -> io::Result<()> {
        let small = random.usize(..SMALLS);
        match self {
            Operation::Hot => read(hot, BLOCK, &mut random).await,
            Operation::Cold => read(cold, BLOCK, &mut random).await,
            Operation::Large => read(hot, 16 * BLOCK, &mut random).await,
            Operation::Stat => traced::metadata(files.small(small)).await.map(drop),
            Operation::StatMoving => {
                let path = files.directory(small % DIRECTORIES, random.bool()).join("file");
                // It has the other name.
                traced::try_exists(path).await.map(drop)
            }
            Operation::Open => traced::File::open(files.small(small)).await?.metadata().await.map(drop),
            Operation::Readfile => traced::read(files.small(small)).await.map(drop),
        }
    }
}

async fn read(file: &traced::File, size: usize, random: &mut Rng) -> io::Result<()> {
    let offset = random.usize(..BLOCKS - size / BLOCK) * BLOCK;
    let (count, _) = file.read_at(vec![0; size], offset as u64).await;
    match count? {
        count if count == size => Ok(()),
        count => Err(io::Error::other(format!("{count} of {size} bytes read"))),
    }
}
