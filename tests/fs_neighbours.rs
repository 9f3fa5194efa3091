//! Libraries that use tokio's types or streams work: the real `tokio_stream` and `tokio_util`.

use std::future::{Future, poll_fn};
use std::io::{self, SeekFrom};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use dyntrace::fs::{self, File};
use futures::Stream;
use rustix::io::Errno;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use tokio_stream::StreamExt;
use tokio_util::codec::{FramedRead, LinesCodec};
use tokio_util::io::{ReaderStream, StreamReader};

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

async fn file(place: &tempfile::TempDir, contents: &str) -> File {
    std::fs::write(place.path().join("file"), contents).unwrap();
    File::options().read(true).write(true).open(place.path().join("file")).await.unwrap()
}

fn contents(place: &tempfile::TempDir) -> String {
    std::fs::read_to_string(place.path().join("file")).unwrap()
}

/// Returns both ends of a connection, the first as a dyntrace or tokio file.
fn pair<F: From<std::os::fd::OwnedFd>>() -> (F, std::os::unix::net::UnixStream) {
    let (ours, peer) = std::os::unix::net::UnixStream::pair().unwrap();
    (F::from(ours.into()), peer)
}

#[tokio::test]
async fn a_listing_is_a_stream_as_that_of_tokio_is() {
    let place = tempfile::tempdir().unwrap();
    for number in 0..600 {
        std::fs::write(place.path().join(number.to_string()), "").unwrap();
    }
    let mut ours = Vec::new();
    let mut listing = fs::read_dir(place.path()).await.unwrap();
    while let Some(entry) = listing.next().await {
        ours.push(entry.unwrap().path());
    }
    assert!(listing.next().await.is_none(), "it stays at its end");
    let theirs = tokio_stream::wrappers::ReadDirStream::new(tokio::fs::read_dir(place.path()).await.unwrap());
    let theirs: Vec<PathBuf> = theirs.map(|entry| entry.unwrap().path()).collect().await;
    assert_eq!(ours, theirs);
    assert_eq!(ours.len(), 600);
}

#[tokio::test]
async fn a_listing_goes_where_a_stream_is_asked_for() {
    async fn count(entries: impl Stream<Item = io::Result<fs::DirEntry>> + Send + Unpin + 'static) -> usize {
        entries.filter(|entry| entry.is_ok()).fold(0, |count, _| count + 1).await
    }
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("file"), "").unwrap();
    assert_eq!(count(fs::read_dir(place.path()).await.unwrap()).await, 1);
}

#[tokio::test]
async fn bodies_and_frames_are_made_of_files() {
    let place = tempfile::tempdir().unwrap();
    let text: String = (0..5000).map(|line| format!("line {line}\n")).collect();
    let body = ReaderStream::with_capacity(file(&place, &text).await, 1000);
    let mut read = String::new();
    StreamReader::new(body).read_to_string(&mut read).await.unwrap();
    assert_eq!(read, text);

    let mut lines = FramedRead::new(File::open(place.path().join("file")).await.unwrap(), LinesCodec::new());
    let mut copy = File::create(place.path().join("copy")).await.unwrap();
    while let Some(line) = lines.next().await {
        copy.write_all(format!("{}\n", line.unwrap()).as_bytes()).await.unwrap();
    }
    copy.close().await.unwrap();
    assert_eq!(std::fs::read_to_string(place.path().join("copy")).unwrap(), text);
}

#[tokio::test]
async fn a_file_is_tokios_with_its_cursor_and_size() {
    let place = tempfile::tempdir().unwrap();
    let mut ours = file(&place, "0123456789").await;
    ours.set_max_buf_size(1000);
    ours.set_option(fs::FileOption::ReadAhead(8)).await.unwrap();
    ours.read_exact(&mut [0; 2]).await.unwrap();
    let number = ours.as_raw_fd();
    let mut theirs = tokio::fs::File::from(ours);
    assert_eq!((theirs.as_raw_fd(), theirs.max_buf_size()), (number, 1000));
    let mut rest = String::new();
    theirs.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest, "23456789", "what was read ahead is read again");

    theirs.seek(SeekFrom::Start(4)).await.unwrap();
    let mut ours = File::from(theirs);
    assert_eq!((ours.as_raw_fd(), ours.max_buf_size()), (number, 1000));
    rest.clear();
    ours.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest, "456789");
}

/// Writes before and after each conversion, without a flush. On one thread, so that blocking it would block the write.
#[tokio::test]
async fn accepted_bytes_are_written_before_later_ones() {
    let place = tempfile::tempdir().unwrap();
    let mut ours = file(&place, "").await;
    let mut expected = String::new();
    for round in 0..100 {
        let mine = format!("ours {round} {}\n", "x".repeat(round * 100));
        ours.write_all(mine.as_bytes()).await.unwrap();
        let mut theirs = tokio::fs::File::from(ours);
        theirs.write_all(b"theirs\n").await.unwrap();
        ours = File::from(theirs);
        expected += &mine;
        expected += "theirs\n";
    }
    ours.close().await.unwrap();
    assert_eq!(contents(&place), expected);
}

#[tokio::test]
async fn an_operation_of_tokios_in_flight_is_waited_for() {
    let (mut theirs, mut peer) = pair::<tokio::fs::File>();
    assert!(poll_once(pin!(theirs.read(&mut [0; 1]))).is_pending());
    let mut ours = File::from(theirs);
    assert!(poll_once(pin!(ours.write(b"after"))).is_pending(), "the read holds the cursor");
    io::Write::write_all(&mut peer, b"x").unwrap();
    ours.write_all(b"after").await.unwrap();
    ours.close().await.unwrap();
    let mut sent = String::new();
    io::Read::read_to_string(&mut peer, &mut sent).unwrap();
    assert_eq!(sent, "after");
}

#[tokio::test]
async fn an_error_of_tokios_write_is_told_by_ours() {
    let mut theirs = tokio::fs::File::options().write(true).open("/dev/full").await.unwrap();
    theirs.write_all(b"no room").await.unwrap();
    let mut ours = File::from(theirs);
    assert_eq!(ours.flush().await.unwrap_err().kind(), io::ErrorKind::StorageFull);
    // tokio keeps it in its file, which does nothing any more.
    let mut theirs = tokio::fs::File::options().write(true).open("/dev/full").await.unwrap();
    theirs.write_all(b"no room").await.unwrap();
    let _ = theirs.metadata().await;
    let _ = theirs.set_len(0).await;
    let mut ours = File::from(theirs);
    assert_eq!(ours.flush().await.unwrap_err().kind(), io::ErrorKind::StorageFull);
}

#[tokio::test]
async fn bytes_of_a_failed_write_are_tokios_first() {
    let mut ours = File::options().write(true).open("/dev/full").await.unwrap();
    ours.write_all(b"no room").await.unwrap();
    assert_eq!(ours.flush().await.unwrap_err().raw_os_error(), Some(Errno::NOSPC.raw_os_error()));
    let mut theirs = tokio::fs::File::from(ours);
    assert_eq!(theirs.flush().await.unwrap_err().kind(), io::ErrorKind::StorageFull);
    theirs.flush().await.unwrap();
}

#[test]
fn files_are_converted_outside_a_runtime() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("file"), "text").unwrap();
    let std = std::fs::File::open(place.path().join("file")).unwrap();
    let theirs = tokio::fs::File::from(File::from(std));
    let theirs = tokio::fs::File::from(File::from(theirs));
    assert_eq!(std::io::read_to_string(theirs.try_into_std().unwrap()).unwrap(), "text");
}

/// A read that was started and dropped: its bytes are read again if the file can seek.
#[tokio::test]
async fn a_dropped_read_of_ours_loses_nothing_to_tokio() {
    let place = tempfile::tempdir().unwrap();
    for _ in 0..50 {
        let mut ours = file(&place, "0123456789").await;
        let mut buffer = [0; 4];
        let start = match poll_once(pin!(ours.read(&mut buffer))) {
            Poll::Ready(count) => count.unwrap(),
            Poll::Pending => 0,
        };
        let mut theirs = tokio::fs::File::from(ours);
        let mut rest = String::new();
        theirs.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "0123456789"[start..]);
    }
}

/// A task without cooperative budget converts a file with a write in flight: the wait must not depend on the runtime.
#[tokio::test]
async fn a_task_without_budget_converts_a_file() {
    let place = tempfile::tempdir().unwrap();
    let mut ours = file(&place, "").await;
    ours.write_all(&vec![b'x'; 1 << 20]).await.unwrap();
    poll_fn(|cx| {
        // Each channel operation costs one unit; without budget it returns pending.
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        loop {
            sender.send(()).unwrap();
            if receiver.poll_recv(cx).is_pending() {
                return Poll::Ready(());
            }
        }
    })
    .await;
    let mut theirs = tokio::fs::File::from(ours);
    theirs.flush().await.unwrap();
    assert_eq!(contents(&place).len(), 1 << 20);
}
