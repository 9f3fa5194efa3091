//! Very small and very large sizes, and a disk with errors.

use dyntrace::fs::{self, File};
use rustix::io::Errno;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{errno, run};

const GIBIBYTE: usize = 1 << 30;

#[test]
fn nothing_is_read_and_written_without_a_word() {
    run(async {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        fs::write(&path, "contents").await.unwrap();
        let mut file = File::options().read(true).write(true).open(&path).await.unwrap();
        assert_eq!(file.read(&mut []).await.unwrap(), 0);
        assert_eq!(file.write(&[]).await.unwrap(), 0);
        assert_eq!(file.read_at(Vec::new(), 3).await.0.unwrap(), 0);
        assert_eq!(file.write_at(Vec::new(), 100).await.0.unwrap(), 0);
        file.flush().await.unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "contents");
        file.close().await.unwrap();

        fs::write(&path, "").await.unwrap();
        assert_eq!(fs::read(&path).await.unwrap(), b"");
        assert_eq!(fs::copy(&path, place.path().join("copy")).await.unwrap(), 0);
    });
}

#[test]
fn a_gibibyte_is_read_in_one_operation() {
    run(async {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        // Most of it is a hole: reading it takes memory, but no disk space.
        let mut file = File::options().read(true).write(true).create(true).open(&path).await.unwrap();
        file.set_len(GIBIBYTE as u64).await.unwrap();
        assert_eq!(file.write_at(b"last".to_vec(), GIBIBYTE as u64 - 4).await.0.unwrap(), 4);

        let (count, mut buffer) = file.read_at(vec![0; GIBIBYTE], 0).await;
        assert_eq!(count.unwrap(), GIBIBYTE);
        assert_eq!(&buffer[GIBIBYTE - 4..], b"last");

        // Reads at the cursor are split.
        let piece = file.max_buf_size();
        buffer[piece - 1..=piece].fill(1);
        assert_eq!(file.read(&mut buffer).await.unwrap(), piece);
        assert_eq!(buffer[piece - 1..=piece], [0, 1]);
        file.close().await.unwrap();
    });
}

/// The first page of a process is never mapped: reading it is like reading a broken disk.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_gives_errors_is_eio() {
    run(async {
        let broken = Some(Errno::IO.raw_os_error());
        let path = "/proc/self/mem";
        let mut file = File::open(path).await.unwrap();
        let (count, buffer) = file.read_at(vec![7; 16], 0).await;
        assert_eq!((errno(count), &buffer[..]), (broken, &[7; 16][..]));
        assert_eq!(errno(file.read_vectored_at(vec![vec![7; 16]], 0).await.0), broken);
        assert_eq!(errno(file.read(&mut [0; 16]).await), broken);
        assert_eq!(errno(file.read_line(&mut Vec::new()).await), broken);
        assert_eq!(errno(file.ipread(0, 16).await), broken);
        assert_eq!(errno(fs::read(path).await), broken);
        assert_eq!(errno(fs::read_to_string(path).await), broken);
        assert_eq!(errno(fs::copy(path, "/dev/null").await), broken);
        file.close().await.unwrap();
    });
}
