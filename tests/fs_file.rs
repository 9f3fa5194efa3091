//! An open file compared with std's: the same bytes, the same positions, and no lost write error.

#[path = "common/missing.rs"]
mod missing;

use std::future::Future;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::pin::pin;
use std::task::{Context, Waker};

use dyntrace::fs::{Advice, File, FileOption};
use rustix::io::Errno;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

fn errno<T: std::fmt::Debug>(answer: io::Result<T>) -> Option<i32> {
    answer.unwrap_err().raw_os_error()
}

fn code(errno: Errno) -> Option<i32> {
    Some(errno.raw_os_error())
}

fn path(directory: &TempDir) -> PathBuf {
    directory.path().join("file")
}

/// Returns a file with `contents`, opened for reading and writing.
async fn file(directory: &TempDir, contents: impl AsRef<[u8]>) -> File {
    std::fs::write(path(directory), contents).unwrap();
    File::options().read(true).write(true).open(path(directory)).await.unwrap()
}

/// Writes without a flush, drops the file, and looks at it by its name.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_file_has_all_that_was_accepted() {
    let directory = tempfile::tempdir().unwrap();
    let (path, copied) = (path(&directory), directory.path().join("copied"));
    let accept = || async {
        let mut file = File::create(&path).await.unwrap();
        file.write_all(b"accepted").await.unwrap();
    };
    // A read that overtakes the write does so in a few of a hundred tries.
    for _ in 0..300 {
        accept().await;
        assert_eq!(dyntrace::fs::read(&path).await.unwrap(), b"accepted");
        accept().await;
        assert_eq!(dyntrace::fs::metadata(&path).await.unwrap().len(), 8);
        accept().await;
        let mut text = String::new();
        File::open(&path).await.unwrap().read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "accepted");
        accept().await;
        assert_eq!(dyntrace::fs::copy(&path, &copied).await.unwrap(), 8);
        accept().await;
        dyntrace::fs::write(&path, "written").await.unwrap();
        accept().await;
        dyntrace::fs::rename(&path, &copied).await.unwrap();
        assert_eq!(dyntrace::fs::read_to_string(&copied).await.unwrap(), "accepted");
    }
}

#[tokio::test]
async fn reads_writes_and_seeks_in_any_order_are_those_of_std() {
    let directory = tempfile::tempdir().unwrap();
    let start: Vec<u8> = (0..100_000u32).map(|n| n as u8).collect();
    for read_ahead in [0, 1, 4096] {
        let mut ours = file(&directory, &start).await;
        ours.set_option(FileOption::ReadAhead(read_ahead)).await.unwrap();
        let other = directory.path().join("other");
        std::fs::write(&other, &start).unwrap();
        let mut std = std::fs::File::options().read(true).write(true).open(&other).unwrap();
        // The same pseudo-random steps in each run.
        let mut state = 1u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for step in 0..600 {
            let size = next(3000) as usize;
            match next(6) {
                0 | 1 => {
                    let (mut a, mut b) = (vec![0; size], vec![0; size]);
                    let (a_count, b_count) = (read_full(&mut ours, &mut a).await, read_full_std(&mut std, &mut b));
                    assert_eq!((a_count, a), (b_count, b), "step {step}");
                }
                2 => {
                    let bytes = vec![step as u8; size];
                    ours.write_all(&bytes).await.unwrap();
                    std.write_all(&bytes).unwrap();
                }
                3 => {
                    let to = SeekFrom::Current(next(2000) as i64 - 1000);
                    assert_eq!(ours.seek(to).await.ok(), std.seek(to).ok(), "step {step}: {to:?}");
                }
                4 => {
                    let to = SeekFrom::Start(next(110_000));
                    assert_eq!(ours.seek(to).await.unwrap(), std.seek(to).unwrap());
                }
                _ => {
                    // A read dropped before or after its first poll.
                    let mut byte = [0];
                    let mut read = pin!(ours.read(&mut byte));
                    if read.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                        std.read_exact(&mut [0]).or_else(at_end).unwrap();
                    }
                }
            }
        }
        ours.close().await.unwrap();
        assert_eq!(std::fs::read(path(&directory)).unwrap(), std::fs::read(&other).unwrap());
    }
}

fn at_end(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::UnexpectedEof { Ok(()) } else { Err(error) }
}

async fn read_full(file: &mut File, into: &mut [u8]) -> usize {
    let mut done = 0;
    while done < into.len() {
        match file.read(&mut into[done..]).await.unwrap() {
            0 => break,
            count => done += count,
        }
    }
    done
}

fn read_full_std(file: &mut std::fs::File, into: &mut [u8]) -> usize {
    let mut done = 0;
    while done < into.len() {
        match file.read(&mut into[done..]).unwrap() {
            0 => break,
            count => done += count,
        }
    }
    done
}

#[tokio::test]
async fn contents_larger_than_the_buffer_are_written_and_read() {
    let directory = tempfile::tempdir().unwrap();
    let contents: Vec<u8> = (0..5_000_000u32).map(|n| (n % 251) as u8).collect();
    let mut file = file(&directory, "").await;
    file.write_all(&contents).await.unwrap();
    file.flush().await.unwrap();
    assert_eq!(std::fs::read(path(&directory)).unwrap(), contents);
    file.rewind().await.unwrap();
    let mut read = Vec::new();
    file.read_to_end(&mut read).await.unwrap();
    assert!(read == contents);
    file.close().await.unwrap();
}

#[tokio::test]
async fn appending_goes_to_the_end() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(path(&directory), "first ").unwrap();
    let mut file = File::options().append(true).open(path(&directory)).await.unwrap();
    std::fs::write(path(&directory), "changed ").unwrap();
    file.write_all(b"second").await.unwrap();
    file.close().await.unwrap();
    assert_eq!(std::fs::read(path(&directory)).unwrap(), b"changed second");
}

/// Each operation that returns write errors returns it, repeatedly while the file does not accept the bytes.
#[tokio::test]
async fn a_write_error_is_told_by_everything_that_needs_the_write() {
    let directory = tempfile::tempdir().unwrap();
    let failed = async || {
        std::fs::write(path(&directory), "contents").unwrap();
        let mut file = File::open(path(&directory)).await.unwrap();
        file.write_all(b"this file is for reading").await.unwrap();
        file
    };
    let bad = code(Errno::BADF);

    let mut file = failed().await;
    assert_eq!(errno(file.flush().await), bad);
    assert_eq!(errno(file.flush().await), bad);
    assert_eq!(errno(file.close().await), bad);

    let mut file = failed().await;
    assert_eq!(errno(file.write(b"more").await), bad);
    assert_eq!(errno(file.write(b"more").await), bad);

    let mut file = failed().await;
    assert_eq!(errno(file.shutdown().await), bad);
    assert_eq!(errno(file.shutdown().await), bad);

    let file = failed().await;
    assert_eq!(errno(file.sync_all().await), bad);
    assert_eq!(errno(file.sync_all().await), bad);

    let file = failed().await;
    assert_eq!(errno(file.sync_data().await), bad);
    assert_eq!(errno(file.sync_data().await), bad);

    let mut file = failed().await;
    assert_eq!(errno(file.read(&mut [0; 4]).await), bad);
    assert_eq!(errno(file.read_line(&mut Vec::new()).await), bad);

    let file = failed().await;
    assert_eq!(errno(file.close().await), bad);

    let file = failed().await.try_into_std().unwrap_err();
    assert_eq!(errno(file.close().await), bad);

    // A seek returns it, and discards the bytes.
    let mut file = failed().await;
    assert_eq!(errno(file.seek(SeekFrom::Start(0)).await), bad);
    assert_eq!(file.seek(SeekFrom::Start(3)).await.unwrap(), 3);
    assert_eq!(file.read(&mut [0; 9]).await.unwrap(), 5);
    file.close().await.unwrap();
}

#[tokio::test]
async fn a_full_disk_is_told() {
    let Ok(mut file) = File::options().write(true).open("/dev/full").await else {
        return missing::skip("/dev/full", "not there");
    };
    file.write_all(b"no room").await.unwrap();
    assert_eq!(errno(file.flush().await), code(Errno::NOSPC));
    assert_eq!(errno(file.write_at(b"no room".to_vec(), 0).await.0), code(Errno::NOSPC));
    assert_eq!(errno(file.close().await), code(Errno::NOSPC));
}

#[tokio::test]
async fn a_file_that_was_dropped_has_its_write() {
    let directory = tempfile::tempdir().unwrap();
    let mut dropped = file(&directory, "").await;
    dropped.write_all(b"accepted").await.unwrap();
    drop(dropped);
    loop {
        let other = std::fs::File::open(path(&directory)).unwrap();
        let mut text = String::new();
        (&other).read_to_string(&mut text).unwrap();
        if text == "accepted" {
            break;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn positions_leave_the_cursor_alone() {
    let directory = tempfile::tempdir().unwrap();
    let mut file = file(&directory, "0123456789").await;
    let (count, buffer) = file.read_at(vec![b'-'; 4], 8).await;
    assert_eq!((count.unwrap(), &buffer[..]), (2, &b"89--"[..]));
    let (count, buffer) = file.write_at(b"ABC".to_vec(), 2).await;
    assert_eq!((count.unwrap(), &buffer[..]), (3, &b"ABC"[..]));
    assert_eq!(file.read_at(vec![0; 4], 100).await.0.unwrap(), 0);
    let mut text = String::new();
    file.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "01ABC56789");

    // Concurrently, on one file.
    let (a, b) = tokio::join!(file.read_at(vec![0; 5], 0), file.read_at(vec![0; 5], 5));
    assert_eq!([a.1, b.1].concat(), b"01ABC56789");

    assert_eq!(errno(file.read_at(vec![0; 1], u64::MAX).await.0), code(Errno::INVAL));
    assert_eq!(errno(file.write_at(vec![0; 1], u64::MAX).await.0), code(Errno::INVAL));
    file.close().await.unwrap();

    let readable = File::open(path(&directory)).await.unwrap();
    let (count, buffer) = readable.write_at(b"kept".to_vec(), 0).await;
    assert_eq!((errno(count), &buffer[..]), (code(Errno::BADF), &b"kept"[..]));
    readable.close().await.unwrap();
}

#[tokio::test]
async fn vectored_positions_fill_one_buffer_after_the_other() {
    let directory = tempfile::tempdir().unwrap();
    let mut file = file(&directory, "0123456789").await;
    let (count, buffers) = file.read_vectored_at(vec![vec![b'-'; 3], vec![], vec![b'-'; 4]], 5).await;
    assert_eq!(count.unwrap(), 5);
    assert_eq!(buffers, [&b"567"[..], b"", b"89--"]);
    let (count, buffers) = file.write_vectored_at(vec![b"AB".to_vec(), vec![], b"C".to_vec()], 9).await;
    assert_eq!((count.unwrap(), buffers.concat()), (3, b"ABC".to_vec()));
    assert_eq!(file.stream_position().await.unwrap(), 0);
    let mut text = String::new();
    file.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "012345678ABC");

    // Empty calls, more bytes than the system takes at once, and invalid offsets.
    for nothing in [vec![], vec![vec![]; 3000]] {
        assert_eq!(file.read_vectored_at(nothing.clone(), 0).await.0.unwrap(), 0);
        assert_eq!(file.write_vectored_at(nothing, 0).await.0.unwrap(), 0);
    }
    let (count, buffers) = file.write_vectored_at(vec![vec![b'x'; 2]; 3000], 0).await;
    assert_eq!((count.unwrap(), buffers.len()), (2048, 3000));
    let (count, buffers) = file.read_vectored_at(vec![vec![0; 1]; 3000], 1024).await;
    assert_eq!((count.unwrap(), &buffers[1023][..], &buffers[1024][..]), (1024, &b"x"[..], &b"\0"[..]));
    assert_eq!(errno(file.read_vectored_at(vec![vec![0; 1]], u64::MAX).await.0), code(Errno::INVAL));
    assert_eq!(errno(file.write_vectored_at(vec![vec![0; 1]], u64::MAX).await.0), code(Errno::INVAL));
    file.close().await.unwrap();

    let readable = File::open(path(&directory)).await.unwrap();
    let (count, buffers) = readable.write_vectored_at(vec![b"kept".to_vec()], 0).await;
    assert_eq!((errno(count), buffers), (code(Errno::BADF), vec![b"kept".to_vec()]));
}

#[tokio::test]
async fn lines_are_read_whatever_the_read_ahead() {
    let directory = tempfile::tempdir().unwrap();
    let long = "x".repeat(100_000);
    let text = format!("first\n\n{long}\nlast");
    for read_ahead in [0, 7, 4096] {
        let mut file = file(&directory, &text).await;
        file.set_option(FileOption::ReadAhead(read_ahead)).await.unwrap();
        let mut lines = Vec::new();
        loop {
            let mut line = Vec::new();
            let count = file.read_line(&mut line).await.unwrap();
            assert_eq!(count, line.len());
            if count == 0 {
                break;
            }
            lines.push(String::from_utf8(line).unwrap());
        }
        assert!(lines == ["first\n", "\n", &format!("{long}\n"), "last"], "with {read_ahead}");
        file.close().await.unwrap();
    }
}

#[tokio::test]
async fn after_a_line_the_file_goes_on_behind_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut file = file(&directory, "line\nrest of it").await;
    file.read_line(&mut Vec::new()).await.unwrap();
    assert_eq!(file.stream_position().await.unwrap(), 5);
    file.read_line(&mut Vec::new()).await.unwrap();
    file.seek(SeekFrom::Start(0)).await.unwrap();
    file.read_line(&mut Vec::new()).await.unwrap();
    file.write_all(b"REST").await.unwrap();
    file.close().await.unwrap();
    assert_eq!(std::fs::read(path(&directory)).unwrap(), b"line\nREST of it");
}

#[tokio::test]
async fn a_line_given_up_is_not_lost() {
    let directory = tempfile::tempdir().unwrap();
    let mut file = file(&directory, "first\nsecond\n").await;
    let mut given_up = Vec::new();
    {
        let mut reading = pin!(file.read_line(&mut given_up));
        let _ = reading.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    }
    let mut line = given_up.clone();
    if line.is_empty() {
        file.read_line(&mut line).await.unwrap();
    }
    assert_eq!(line, b"first\n");
    file.close().await.unwrap();
}

#[tokio::test]
async fn ipread_follows_the_pointer_or_finds_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let header = |size: u32, pointer: u32| [size.to_be_bytes(), pointer.to_be_bytes()].concat();
    let contents = [&b"ab"[..], &header(4, 34), &header(5, 34), &header(0, 99), &header(u32::MAX, 0), b"data"].concat();
    let mut file = file(&directory, &contents).await;
    assert_eq!(file.ipread(2, 4).await.unwrap().unwrap(), b"data");
    assert_eq!(file.ipread(2, 3).await.unwrap(), None, "larger than allowed");
    assert_eq!(file.ipread(10, 100).await.unwrap(), None, "the data end behind the file");
    assert_eq!(file.ipread(18, 100).await.unwrap().unwrap(), b"", "nothing is there everywhere");
    assert_eq!(file.ipread(26, 1 << 20).await.unwrap(), None, "four gigabytes");
    assert_eq!(file.ipread(34, 100).await.unwrap(), None, "the header ends behind the file");
    assert_eq!(file.ipread(1 << 40, 100).await.unwrap(), None);
    assert_eq!(file.stream_position().await.unwrap(), 0);
    file.close().await.unwrap();

    let writable = File::options().write(true).open(path(&directory)).await.unwrap();
    assert_eq!(errno(writable.ipread(0, 100).await), code(Errno::BADF));
    writable.close().await.unwrap();
}

#[tokio::test]
async fn length_metadata_permissions_and_syncs() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let mut file = file(&directory, "0123456789").await;
    let mut start = [0; 4];
    file.read_exact(&mut start).await.unwrap();
    file.set_len(6).await.unwrap();
    assert_eq!(file.metadata().await.unwrap().len(), 6);
    let mut rest = String::new();
    file.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest, "45");
    file.set_permissions(PermissionsExt::from_mode(0o600)).await.unwrap();
    assert_eq!(file.metadata().await.unwrap().permissions().mode() & 0o7777, 0o600);
    file.sync_all().await.unwrap();
    file.sync_data().await.unwrap();
    assert_eq!(file.set_len(u64::MAX).await.unwrap_err().kind(), io::ErrorKind::InvalidInput);
    file.close().await.unwrap();

    let readable = File::open(path(&directory)).await.unwrap();
    assert_eq!(errno(readable.set_len(0).await), code(Errno::INVAL));
    readable.close().await.unwrap();
}

#[tokio::test]
async fn advice_is_taken_for_files_and_refused_for_pipes() {
    let directory = tempfile::tempdir().unwrap();
    let file = file(&directory, "contents").await;
    let advices =
        [Advice::Normal, Advice::Random, Advice::Sequential, Advice::WillNeed, Advice::DontNeed, Advice::NoReuse];
    for advice in advices {
        match file.advise(0, 4, advice).await {
            Err(error) if error.raw_os_error() == code(Errno::NOTSUP) => {
                return missing::skip("advice", "this system has no posix_fadvise(2)");
            }
            answer => answer.unwrap(),
        }
    }
    assert_eq!(errno(file.advise(u64::MAX, 0, Advice::Normal).await), code(Errno::INVAL));
    file.close().await.unwrap();
}

#[tokio::test]
async fn an_option_out_of_its_range_is_einval() {
    let directory = tempfile::tempdir().unwrap();
    let mut file = file(&directory, "contents").await;
    assert_eq!(errno(file.set_option(FileOption::ReadAhead((2 << 20) + 1)).await), code(Errno::INVAL));
    file.set_option(FileOption::ReadAhead(2 << 20)).await.unwrap();
    file.close().await.unwrap();
}

#[tokio::test]
async fn seeks_before_the_start_fail_and_move_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut file = file(&directory, "0123456789").await;
    file.set_option(FileOption::ReadAhead(8)).await.unwrap();
    file.read_exact(&mut [0; 3]).await.unwrap();
    assert_eq!(errno(file.seek(SeekFrom::Current(-4)).await), code(Errno::INVAL));
    assert_eq!(errno(file.seek(SeekFrom::Start(u64::MAX)).await), code(Errno::INVAL));
    assert_eq!(errno(file.seek(SeekFrom::Current(i64::MIN)).await), code(Errno::INVAL));
    let mut rest = String::new();
    file.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest, "3456789");
    file.close().await.unwrap();
}

#[test]
fn a_file_goes_where_its_task_goes() {
    fn is_send_and_sync<T: Send + Sync + Unpin>() {}
    is_send_and_sync::<File>();
}

/// A future that was polled and forgotten leaks its contents; the file must not be among them.
#[tokio::test]
async fn forgotten_futures_keep_no_file_from_being_closed() {
    use std::future::Future;
    use std::task::{Context, Waker};

    fn begin_and_forget(future: impl Future) {
        let mut future = Box::pin(future);
        let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        std::mem::forget(future);
    }

    let directory = tempfile::tempdir().unwrap();
    for operation in 0..8 {
        let mut file = file(&directory, "0123456789").await;
        match operation {
            0 => begin_and_forget(file.read_at(vec![0; 5], 0)),
            1 => begin_and_forget(file.write_at(vec![0; 5], 0)),
            2 => begin_and_forget(file.metadata()),
            3 => begin_and_forget(file.sync_all()),
            4 => begin_and_forget(file.set_len(5)),
            5 => begin_and_forget(file.read(&mut [0; 5])),
            6 => begin_and_forget(file.try_clone()),
            _ => begin_and_forget(file.seek(std::io::SeekFrom::Start(0))),
        }
        let closed = tokio::time::timeout(std::time::Duration::from_secs(60), file.close()).await;
        assert!(closed.is_ok(), "operation {operation} keeps the file open");
    }
}
