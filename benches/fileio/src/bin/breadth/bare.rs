//! std's functions in the shape of `tokio::fs`: each call is made when it is polled, on that thread.

use std::fs::{self, FileType, Metadata, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),+) -> $output:ty;)+) => { $(
        pub async fn $name($($argument: $type),+) -> io::Result<$output> {
            fs::$name($($argument),+)
        }
    )+ };
}

functions! {
    canonicalize(path: impl AsRef<Path>) -> PathBuf;
    copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> u64;
    create_dir(path: impl AsRef<Path>) -> ();
    create_dir_all(path: impl AsRef<Path>) -> ();
    hard_link(from: impl AsRef<Path>, to: impl AsRef<Path>) -> ();
    metadata(path: impl AsRef<Path>) -> Metadata;
    read(path: impl AsRef<Path>) -> Vec<u8>;
    read_link(path: impl AsRef<Path>) -> PathBuf;
    remove_dir(path: impl AsRef<Path>) -> ();
    remove_dir_all(path: impl AsRef<Path>) -> ();
    remove_file(path: impl AsRef<Path>) -> ();
    rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> ();
    set_permissions(path: impl AsRef<Path>, permissions: Permissions) -> ();
    write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> ();
}

pub async fn symlink(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

pub async fn try_exists(path: impl AsRef<Path>) -> io::Result<bool> {
    path.as_ref().try_exists()
}

pub struct ReadDir(fs::ReadDir);

pub struct DirEntry(fs::DirEntry);

pub async fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    fs::read_dir(path).map(ReadDir)
}

impl ReadDir {
    pub async fn next_entry(&mut self) -> io::Result<Option<DirEntry>> {
        Ok(self.0.next().transpose()?.map(DirEntry))
    }
}

impl DirEntry {
    pub async fn file_type(&self) -> io::Result<FileType> {
        self.0.file_type()
    }

    pub async fn metadata(&self) -> io::Result<Metadata> {
        self.0.metadata()
    }
}

pub struct OpenOptions(fs::OpenOptions);

impl OpenOptions {
    pub fn write(&mut self, write: bool) -> &mut OpenOptions {
        self.0.write(write);
        self
    }

    pub fn append(&mut self, append: bool) -> &mut OpenOptions {
        self.0.append(append);
        self
    }

    pub fn create(&mut self, create: bool) -> &mut OpenOptions {
        self.0.create(create);
        self
    }

    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        self.0.open(path).map(File::new)
    }
}

pub struct File {
    file: fs::File,
    position: u64,
}

impl File {
    fn new(file: fs::File) -> File {
        File { file, position: 0 }
    }

    pub async fn open(path: impl AsRef<Path>) -> io::Result<File> {
        fs::File::open(path).map(File::new)
    }

    pub async fn create(path: impl AsRef<Path>) -> io::Result<File> {
        fs::File::create(path).map(File::new)
    }

    pub fn options() -> OpenOptions {
        OpenOptions(fs::File::options())
    }

    pub async fn set_len(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    pub async fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    pub async fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    pub async fn try_clone(&self) -> io::Result<File> {
        self.file.try_clone().map(File::new)
    }
}

pub async fn read_at(file: &mut File, mut block: Vec<u8>, offset: u64) -> io::Result<Vec<u8>> {
    file.file.read_exact_at(&mut block, offset)?;
    Ok(block)
}

pub async fn write_at(file: &mut File, block: Vec<u8>, offset: u64) -> io::Result<Vec<u8>> {
    file.file.write_all_at(&block, offset)?;
    Ok(block)
}

impl AsyncRead for File {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let count = self.file.read(into.initialize_unfilled())?;
        into.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for File {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.file.write(from))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncSeek for File {
    fn start_seek(mut self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        self.position = self.file.seek(to)?;
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Poll::Ready(Ok(self.position))
    }
}
