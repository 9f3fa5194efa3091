//! One request: reads all files in and below a directory, with its user tag.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyntrace::fs::{self, File};
use indicatif::ProgressBar;
use tokio::sync::Semaphore;

use crate::terms::{Counter, Terms};

/// Bytes of one read.
const PIECE: usize = 64 << 10;

/// State shared by all requests.
#[derive(Clone)]
pub struct Shared {
    /// Limits the number of open files.
    pub files: Arc<Semaphore>,
    pub progress: ProgressBar,
}

/// The result of a request.
pub struct RequestFiles {
    pub tag: String,
    pub directory: PathBuf,
    pub files: Vec<(PathBuf, Terms)>,
    pub failed: Vec<(PathBuf, io::Error)>,
}

/// Indexes a directory. Must run as a process: it sets the user tag of the process, which its tasks inherit.
pub async fn run(tag: String, directory: PathBuf, shared: Shared) -> anyhow::Result<RequestFiles> {
    dyntrace::put_tag(tag.as_str())?;
    dyntrace::spread_tag(true);
    let mut found = RequestFiles { tag, directory: directory.clone(), files: Vec::new(), failed: Vec::new() };
    let (mut directories, mut reads) = (vec![directory], Vec::new());
    while let Some(directory) = directories.pop() {
        let files = match list(&directory, &mut directories).await {
            Ok(files) => files,
            Err(error) => {
                found.failed.push((directory, error));
                continue;
            }
        };
        shared.progress.inc_length(files.len() as u64);
        for path in files {
            let turn = Arc::clone(&shared.files).acquire_owned().await?;
            let progress = shared.progress.clone();
            reads.push(dyntrace::spawn(async move {
                let answer = read(&path).await;
                progress.inc(1);
                drop(turn);
                (path, answer)
            }));
        }
    }
    for read in reads {
        match read.await? {
            (path, Ok(terms)) => found.files.push((path, terms)),
            (path, Err(error)) => found.failed.push((path, error)),
        }
    }
    Ok(found)
}

/// Returns the files of a directory, and adds its subdirectories to `directories`. Does not follow links, and leaves out other
/// entries: opening a FIFO would wait for a writer.
async fn list(directory: &Path, directories: &mut Vec<PathBuf>) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut entries = fs::read_dir(directory).await?;
    while let Some(entry) = entries.next_entry().await? {
        let kind = entry.file_type().await?;
        if kind.is_dir() {
            directories.push(entry.path());
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(files)
}

/// Reads a file up to its length at the opening, as a log may grow as fast as it is read.
async fn read(path: &Path) -> io::Result<Terms> {
    let file = File::open(path).await?;
    let end = file.metadata().await?.len();
    let mut counter = Counter::default();
    let (mut buffer, mut offset) = (vec![0; PIECE], 0);
    while offset < end {
        let (count, back) = file.read_at(buffer, offset).await;
        buffer = back;
        let count = match count? {
            0 => break,
            count => count.min(usize::try_from(end - offset).unwrap_or(usize::MAX)),
        };
        counter.add(&buffer[..count]);
        offset += count as u64;
    }
    file.close().await?;
    Ok(counter.finish())
}
