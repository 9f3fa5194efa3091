//! `efile_drv-return` shows the bytes that an operation moved, not those that it asked for.

use std::io::{ErrorKind, Read, SeekFrom};
use std::os::fd::OwnedFd;
use std::path::Path;

use dyntrace::efile::Command;
use dyntrace::fs;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

use crate::{recorded, run};

const MANY: usize = 64 << 10;

/// Writes 19 bytes and reads them in every way, each time asking for more.
async fn work(folder: &Path) {
    let [one, other, nowhere] = ["one", "other", "no/where"].map(|name| folder.join(name));
    fs::write(&one, [7; 19]).await.unwrap();
    assert_eq!(fs::read(&one).await.unwrap().len(), 19);
    assert_eq!(fs::copy(&one, &other).await.unwrap(), 19);
    for error in [fs::write(&nowhere, [7; 19]).await, fs::read(&nowhere).await.map(drop)] {
        error.unwrap_err();
    }
    let mut file = fs::File::options().read(true).write(true).open(&other).await.unwrap();
    let mut buffer = vec![0; MANY];
    for count in [19, 0] {
        assert_eq!(file.read(&mut buffer).await.unwrap(), count);
    }
    assert_eq!(file.seek(SeekFrom::Start(5)).await.unwrap(), 5);
    file.write_all(b"written").await.unwrap();
    file.flush().await.unwrap();
    assert_eq!(file.read_at(buffer, 16).await.0.unwrap(), 3);
    assert_eq!(file.write_at(vec![0; 4], 20).await.0.unwrap(), 4);
    assert_eq!(file.read_vectored_at(vec![vec![0; 8], vec![0; 80]], 4).await.0.unwrap(), 20);
    assert_eq!(file.write_vectored_at(vec![vec![0; 3], vec![0; 2]], 0).await.0.unwrap(), 5);
    // A header of 1 byte at 30, and the byte.
    file.write_at([0_u8, 0, 0, 1, 0, 0, 0, 30].to_vec(), 32).await.0.unwrap();
    assert_eq!(file.ipread(32, 4096).await.unwrap(), Some(vec![0]));
    file.close().await.unwrap();
}

#[test]
fn bytes_are_those_moved() {
    let folder = tempfile::tempdir().unwrap();
    recorded(
        || run(work(folder.path())),
        |(), operations| {
            let moved = |command: Command| {
                let of_it = operations.iter().filter(|operation| operation.request.command == command.number());
                of_it.map(|operation| operation.completion.unwrap().bytes.unwrap()).collect::<Vec<_>>()
            };
            assert_eq!(moved(Command::WriteFile), [19, 0]);
            assert_eq!(moved(Command::ReadFile), [19, 0]);
            assert_eq!(moved(Command::Copy), [19]);
            assert_eq!(moved(Command::Read), [19, 0]);
            assert_eq!(moved(Command::Write), [7]);
            assert_eq!(moved(Command::Preadv), [3, 20]);
            assert_eq!(moved(Command::Pwritev), [4, 5, 8]);
            assert_eq!(moved(Command::Ipread), [1]);
            for command in Command::ALL.iter().filter(|command| !command.moves_bytes()) {
                assert!(moved(*command).iter().all(|bytes| *bytes == 0), "{command}");
            }
        },
    );
}

/// Reads from the caches, on the caller's thread, count like those of the pool.
#[test]
fn inline_reads_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, [7; 19]).unwrap();
    let work = async {
        let file = fs::File::open(&path).await.unwrap();
        file.set_inline(true);
        assert_eq!(file.read_at(vec![0; 4096], 0).await.0.unwrap(), 19);
        file.close().await.unwrap();
    };
    recorded(
        || run(work),
        |(), operations| {
            let read = operations.iter().find(|operation| operation.request.command == Command::Preadv.number());
            assert_eq!(read.unwrap().completion.unwrap().bytes, Some(19));
        },
    );
}

/// A write that fails on the way tells what it wrote before.
#[test]
fn a_failed_write_counts_what_it_wrote() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    rustix::io::ioctl_fionbio(&writer, true).unwrap();
    let mut file = fs::File::from_std(OwnedFd::from(writer).into());
    let mut moved = None;
    recorded(
        || {
            run(async {
                // All is accepted, but nobody reads, so the rest cannot be written.
                file.write_all(&vec![7; 1 << 20]).await.unwrap();
                assert_eq!(file.flush().await.unwrap_err().kind(), ErrorKind::WouldBlock);
            });
        },
        |(), operations| {
            let write = operations.iter().find(|operation| operation.request.command == Command::Write.number());
            let answer = write.unwrap().completion.unwrap();
            assert!(!answer.success);
            moved = answer.bytes;
        },
    );
    drop(file);
    let mut written = Vec::new();
    reader.read_to_end(&mut written).unwrap();
    assert!(!written.is_empty());
    assert_eq!(moved, Some(written.len() as u64));
}
