//! Runs each command of the table with success and, if possible, with failure.
//!
//! ALTNAME has no success on Unix; PWD and CLOSE have no failure here.

use std::io::SeekFrom;
use std::path::Path;

use dyntrace::efile::Command;
use dyntrace::fs::{self, Advice, File, FileOption};
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use crate::mix::write_through;
use crate::tally::Tally;

/// Runs them in `directory`, which must be empty; its path must be absolute.
pub async fn run(directory: &Path, tally: &mut Tally) {
    paths(directory, tally).await;
    files(directory, tally).await;
    cannot(directory, tally).await;
}

async fn paths(directory: &Path, tally: &mut Tally) {
    let [file, renamed, link, symlink, copy, missing] =
        ["file", "renamed", "link", "symlink", "copy", "missing"].map(|name| directory.join(name));
    let below = directory.join("a/b/c");

    tally.count(Command::WriteFile, fs::write(&file, "text").await);
    tally.count(Command::WriteFile, fs::write(directory, "text").await);
    tally.count(Command::ReadFile, fs::read(&file).await);
    tally.count(Command::ReadFile, fs::read(&missing).await);
    tally.count(Command::Copy, fs::copy(&file, &copy).await);
    tally.count(Command::Copy, fs::copy(&missing, &copy).await);
    tally.count(Command::Rename, fs::rename(&copy, &renamed).await);
    tally.count(Command::Rename, fs::rename(&copy, &renamed).await);
    tally.count(Command::Link, fs::hard_link(&file, &link).await);
    tally.count(Command::Link, fs::hard_link(&file, &link).await);
    tally.count(Command::Symlink, fs::symlink(&file, &symlink).await);
    tally.count(Command::Symlink, fs::symlink(&file, &symlink).await);
    tally.count(Command::Readlink, fs::read_link(&symlink).await);
    tally.count(Command::Readlink, fs::read_link(&file).await);
    tally.count(Command::Lstat, fs::symlink_metadata(&symlink).await);
    tally.count(Command::Lstat, fs::symlink_metadata(&missing).await);
    let metadata = tally.note(Command::Fstat, fs::metadata(&file).await);
    tally.count(Command::Fstat, fs::metadata(&missing).await);
    if let Ok(metadata) = metadata {
        tally.count(Command::WriteInfo, fs::set_permissions(&file, metadata.permissions()).await);
        tally.count(Command::WriteInfo, fs::set_permissions(&missing, metadata.permissions()).await);
    }
    tally.count(Command::Canonicalize, fs::canonicalize(&symlink).await);
    tally.count(Command::Canonicalize, fs::canonicalize(&missing).await);
    tally.count(Command::Altname, fs::alt_name(&file).await);
    tally.count(Command::Pwd, fs::current_dir().await);
    tally.count(Command::Chdir, fs::set_current_dir(".").await);
    tally.count(Command::Chdir, fs::set_current_dir(&missing).await);
    tally.count(Command::Mkdir, fs::create_dir(directory.join("a")).await);
    tally.count(Command::Mkdir, fs::create_dir(directory.join("a")).await);
    tally.count(Command::MkdirAll, fs::create_dir_all(&below).await);
    tally.count(Command::MkdirAll, fs::create_dir_all(file.join("below")).await);
    tally.count(Command::Readdir, fs::read_dir(directory).await);
    tally.count(Command::Readdir, fs::read_dir(&missing).await);
    tally.count(Command::Rmdir, fs::remove_dir(&below).await);
    tally.count(Command::Rmdir, fs::remove_dir(&below).await);
    tally.count(Command::RmdirAll, fs::remove_dir_all(directory.join("a")).await);
    tally.count(Command::RmdirAll, fs::remove_dir_all(directory.join("a")).await);
    tally.count(Command::Delete, fs::remove_file(&link).await);
    tally.count(Command::Delete, fs::remove_file(&link).await);
}

/// Operations on an open file, all successful.
async fn files(directory: &Path, tally: &mut Tally) {
    // A header with an offset after it, and two lines.
    let contents = [&[0, 0, 0, 4, 0, 0, 0, 8][..], b"data\nline\n"].concat();
    let opened = File::create_new(directory.join("opened")).await;
    let Ok(mut file) = tally.note(Command::Open, opened) else { return };

    write_through(&mut file, &contents, tally).await;
    tally.count(Command::Fsync, file.sync_all().await);
    tally.count(Command::Fdatasync, file.sync_data().await);
    tally.count(Command::Fstat, file.metadata().await);
    tally.count(Command::Ipread, file.ipread(0, 64).await);
    tally.count(Command::Preadv, file.read_at(vec![0; 4], 8).await.0);
    tally.count(Command::Pwritev, file.write_at(b"DATA".to_vec(), 8).await.0);
    tally.count(Command::Fadvise, file.advise(0, 0, Advice::Sequential).await);
    tally.count(Command::Lseek, file.seek(SeekFrom::Start(8)).await);
    tally.count(Command::Read, file.read(&mut [0; 2]).await);
    tally.count(Command::Setopt, file.set_option(FileOption::ReadAhead(4096)).await);
    tally.count(Command::ReadLine, file.read_line(&mut Vec::new()).await);
    tally.count(Command::Truncate, file.set_len(100).await);
    tally.count(Command::Close, file.close().await);
}

/// Operations that fail, as the files were opened for others.
async fn cannot(directory: &Path, tally: &mut Tally) {
    tally.count(Command::Open, File::open(directory.join("missing")).await);

    if let Ok(mut readable) = tally.note(Command::Open, File::open(directory.join("file")).await) {
        write_through(&mut readable, b"text", tally).await;
        // Discards the unwritten bytes, or the next operation would retry them.
        tally.count(Command::Lseek, readable.seek(SeekFrom::Start(0)).await);
        tally.count(Command::Pwritev, readable.write_at(b"text".to_vec(), 0).await.0);
        tally.count(Command::Truncate, readable.set_len(0).await);
        tally.count(Command::Lseek, readable.seek(SeekFrom::End(-1_000_000)).await);
        tally.count(Command::Fadvise, readable.advise(u64::MAX, 0, Advice::Normal).await);
        tally.count(Command::Setopt, readable.set_option(FileOption::ReadAhead(usize::MAX)).await);
        tally.count(Command::Close, readable.close().await);
    }
    let writable = File::options().write(true).open(directory.join("file")).await;
    if let Ok(mut writable) = tally.note(Command::Open, writable) {
        tally.count(Command::Read, writable.read(&mut [0; 4]).await);
        tally.count(Command::ReadLine, writable.read_line(&mut Vec::new()).await);
        tally.count(Command::Preadv, writable.read_at(vec![0; 4], 0).await.0);
        tally.count(Command::Ipread, writable.ipread(0, 64).await);
        tally.count(Command::Close, writable.close().await);
    }
    // Some systems can sync a device.
    if let Ok(device) = tally.note(Command::Open, File::open("/dev/null").await) {
        tally.count(Command::Fsync, device.sync_all().await);
        tally.count(Command::Fdatasync, device.sync_data().await);
        tally.count(Command::Close, device.close().await);
    }
}
