//! The actions: each is a few operations, all counted.

use std::io::SeekFrom;
use std::path::Path;

use clap::ValueEnum;
use dyntrace::efile::Command;
use dyntrace::fs::{self, File};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

use crate::tally::Tally;

#[derive(Clone, Copy, ValueEnum)]
pub enum Action {
    /// Write a file at its cursor, and sync it.
    Write,
    /// Seek in a file and read at its cursor.
    Read,
    /// Read a line.
    Line,
    /// Write and read at offsets.
    Positional,
    /// Write and read whole files.
    Whole,
    /// Ask for metadata, also of a name that does not exist.
    Stat,
    /// Rename, link and remove files, also a name that does not exist.
    Names,
    /// Make, list and remove a directory.
    Directory,
}

pub fn default() -> Vec<Action> {
    Action::value_variants().to_vec()
}

impl Action {
    pub async fn run(self, directory: &Path, tally: &mut Tally) {
        match self {
            Action::Write => write(directory, tally).await,
            Action::Read => read(directory, tally).await,
            Action::Line => line(directory, tally).await,
            Action::Positional => positional(directory, tally).await,
            Action::Whole => whole(directory, tally).await,
            Action::Stat => stat(directory, tally).await,
            Action::Names => names(directory, tally).await,
            Action::Directory => listing(directory, tally).await,
        }
    }
}

const TEXT: &[u8] = b"a line\nand another\n";

/// Writes and waits for the end of the write, which has its outcome.
pub async fn write_through(file: &mut File, bytes: &[u8], tally: &mut Tally) {
    let accepted = file.write_all(bytes).await;
    let written = file.flush().await;
    tally.count(Command::Write, accepted.and(written));
}

async fn write(directory: &Path, tally: &mut Tally) {
    let created = File::create(directory.join("written")).await;
    let Ok(mut file) = tally.note(Command::Open, created) else { return };
    write_through(&mut file, TEXT, tally).await;
    tally.count(Command::Fdatasync, file.sync_data().await);
    tally.count(Command::Close, file.close().await);
}

async fn read(directory: &Path, tally: &mut Tally) {
    let path = directory.join("read");
    tally.count(Command::WriteFile, fs::write(&path, TEXT).await);
    let Ok(mut file) = tally.note(Command::Open, File::open(path).await) else { return };
    tally.count(Command::Lseek, file.seek(SeekFrom::Start(2)).await);
    tally.count(Command::Read, file.read(&mut [0; 8]).await);
    tally.count(Command::Close, file.close().await);
}

async fn line(directory: &Path, tally: &mut Tally) {
    let path = directory.join("lines");
    tally.count(Command::WriteFile, fs::write(&path, TEXT).await);
    let Ok(mut file) = tally.note(Command::Open, File::open(path).await) else { return };
    // The first read buffers both lines, so a second one would be no operation.
    tally.count(Command::ReadLine, file.read_line(&mut Vec::new()).await);
    tally.count(Command::Close, file.close().await);
}

async fn positional(directory: &Path, tally: &mut Tally) {
    let opened = File::options().read(true).write(true).create(true).open(directory.join("positional")).await;
    let Ok(file) = tally.note(Command::Open, opened) else { return };
    let (written, buffer) = file.write_at(TEXT.to_vec(), 4096).await;
    tally.count(Command::Pwritev, written);
    let (read, _) = file.read_at(buffer, 4096).await;
    tally.count(Command::Preadv, read);
    tally.count(Command::Close, file.close().await);
}

async fn whole(directory: &Path, tally: &mut Tally) {
    let path = directory.join("whole");
    tally.count(Command::WriteFile, fs::write(&path, TEXT).await);
    tally.count(Command::ReadFile, fs::read(&path).await);
    tally.count(Command::Copy, fs::copy(&path, directory.join("copy")).await);
}

async fn stat(directory: &Path, tally: &mut Tally) {
    tally.count(Command::Fstat, fs::metadata(directory).await);
    tally.count(Command::Lstat, fs::symlink_metadata(directory).await);
    tally.count(Command::Fstat, fs::metadata(directory.join("missing")).await);
}

async fn names(directory: &Path, tally: &mut Tally) {
    let (old, new, link) = (directory.join("old"), directory.join("new"), directory.join("link"));
    tally.count(Command::WriteFile, fs::write(&old, TEXT).await);
    tally.count(Command::Rename, fs::rename(&old, &new).await);
    tally.count(Command::Rename, fs::rename(&old, &new).await);
    tally.count(Command::Symlink, fs::symlink(&new, &link).await);
    tally.count(Command::Readlink, fs::read_link(&link).await);
    tally.count(Command::Delete, fs::remove_file(&link).await);
    tally.count(Command::Delete, fs::remove_file(&new).await);
}

async fn listing(directory: &Path, tally: &mut Tally) {
    let path = directory.join("directory");
    tally.count(Command::Mkdir, fs::create_dir(&path).await);
    tally.count(Command::Readdir, fs::read_dir(&path).await);
    tally.count(Command::Rmdir, fs::remove_dir(&path).await);
}
