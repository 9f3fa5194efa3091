// Behaviour that programs rely on, with the imports of `signatures.rs`.

use std::future::poll_fn;
use std::io::{IoSlice, Read, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::pin::{Pin, pin};
use std::task::Waker;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

pub fn run(mut runtime: tokio::runtime::Builder, test: impl AsyncFnOnce(&Path)) {
    let place = tempfile::tempdir().unwrap();
    runtime.enable_all().build().unwrap().block_on(test(place.path()));
}

/// Returns a new file with this content, open for reading and writing.
async fn file(place: &Path, contents: &str) -> fs::File {
    std::fs::write(place.join("file"), contents).unwrap();
    fs::File::options().read(true).write(true).open(place.join("file")).await.unwrap()
}

fn contents(place: &Path) -> String {
    std::fs::read_to_string(place.join("file")).unwrap()
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Returns a FIFO whose reads block until a write, and its writer.
async fn fifo(place: &Path) -> (fs::File, std::fs::File) {
    let path = place.join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let reader = fs::File::options().read(true).write(true).open(&path).await.unwrap();
    (reader, std::fs::File::options().write(true).open(&path).unwrap())
}

pub async fn seeks_go_where_the_caller_is(place: &Path) {
    let mut file = file(place, "0123456789").await;
    let mut three = [0; 3];
    file.read_exact(&mut three).await.unwrap();
    assert_eq!(file.seek(SeekFrom::Current(2)).await.unwrap(), 5);
    file.read_exact(&mut three).await.unwrap();
    assert_eq!(&three, b"567");
    assert_eq!(file.seek(SeekFrom::End(-2)).await.unwrap(), 8);
    assert_eq!(file.seek(SeekFrom::Current(-9)).await.unwrap_err().kind(), io::ErrorKind::InvalidInput);
    assert_eq!(file.stream_position().await.unwrap(), 8);
    file.write_all(b"AB").await.unwrap();
    assert_eq!(file.stream_position().await.unwrap(), 10);
    file.rewind().await.unwrap();
    let mut all = String::new();
    file.read_to_string(&mut all).await.unwrap();
    assert_eq!(all, "01234567AB");
    assert_eq!(file.seek(SeekFrom::Start(100)).await.unwrap(), 100);
    assert_eq!(file.read(&mut three).await.unwrap(), 0);
}

pub async fn written_bytes_are_read_without_a_flush(place: &Path) {
    let mut file = file(place, "0123456789").await;
    file.write_all(b"abc").await.unwrap();
    let mut rest = String::new();
    file.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest, "3456789");
    file.rewind().await.unwrap();
    let mut all = String::new();
    file.read_to_string(&mut all).await.unwrap();
    assert_eq!(all, "abc3456789");
}

pub async fn a_dropped_file_has_its_write(place: &Path) {
    let mut dropped = file(place, "").await;
    dropped.write_all(b"accepted").await.unwrap();
    drop(dropped);
    while contents(place) != "accepted" {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

pub async fn a_write_error_comes_with_the_next_flush(_: &Path) {
    let Ok(mut full) = fs::File::options().write(true).open("/dev/full").await else {
        return crate::missing::skip("/dev/full", "not there");
    };
    full.write_all(b"no room").await.unwrap();
    assert_eq!(full.flush().await.unwrap_err().kind(), io::ErrorKind::StorageFull);
    full.write_all(b"no room").await.unwrap_or_default();
    assert_eq!(full.shutdown().await.unwrap_err().kind(), io::ErrorKind::StorageFull);
}

pub async fn a_read_only_file_tells_of_a_write(place: &Path) {
    std::fs::write(place.join("file"), "contents").unwrap();
    let mut file = fs::File::open(place.join("file")).await.unwrap();
    file.write_all(b"this file is for reading").await.unwrap();
    assert_eq!(file.flush().await.unwrap_err().raw_os_error(), Some(libc::EBADF));
    // A seek starts again.
    file.rewind().await.unwrap();
    let mut text = String::new();
    file.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "contents");
}

pub async fn appending_is_at_the_end(place: &Path) {
    std::fs::write(place.join("file"), "first ").unwrap();
    let mut file = fs::OpenOptions::new().read(true).append(true).open(place.join("file")).await.unwrap();
    std::fs::write(place.join("file"), "changed ").unwrap();
    file.write_all(b"second ").await.unwrap();
    file.rewind().await.unwrap();
    file.write_all(b"third").await.unwrap();
    file.flush().await.unwrap();
    assert_eq!(contents(place), "changed second third");
}

pub async fn a_copy_through_two_files(place: &Path) {
    let bytes: Vec<u8> = (0..5_000_000u32).map(|n| (n % 251) as u8).collect();
    fs::write(place.join("from"), &bytes).await.unwrap();
    let mut from = fs::File::open(place.join("from")).await.unwrap();
    let mut to = fs::File::create(place.join("to")).await.unwrap();
    assert_eq!(tokio::io::copy(&mut from, &mut to).await.unwrap(), bytes.len() as u64);
    to.shutdown().await.unwrap();
    assert!(fs::read(place.join("to")).await.unwrap() == bytes);
}

pub async fn read_buf_fills_what_there_is_room_for(place: &Path) {
    let mut file = file(place, "0123456789").await;
    let mut some = Vec::with_capacity(4);
    let room = some.capacity();
    assert_eq!(file.read_buf(&mut some).await.unwrap(), room.min(10));
    file.read_to_end(&mut some).await.unwrap();
    assert_eq!(some, b"0123456789");
    assert_eq!(file.read_buf(&mut some).await.unwrap(), 0);

    // Reads append to the buffer's content, and read nothing without room.
    file.rewind().await.unwrap();
    let mut memory = *b"ab.....";
    let mut buffer = tokio::io::ReadBuf::new(&mut memory);
    buffer.set_filled(2);
    poll_fn(|cx| Pin::new(&mut file).poll_read(cx, &mut buffer)).await.unwrap();
    assert_eq!(buffer.filled(), b"ab01234");
    poll_fn(|cx| Pin::new(&mut file).poll_read(cx, &mut buffer)).await.unwrap();
    assert_eq!(file.stream_position().await.unwrap(), 5);
}

pub async fn the_length_is_set_under_a_buffer(place: &Path) {
    let mut file = file(place, "0123456789").await;
    file.read_exact(&mut [0; 2]).await.unwrap();
    file.write_all(b"abcdef").await.unwrap();
    file.set_len(5).await.unwrap();
    assert_eq!(file.metadata().await.unwrap().len(), 5);
    assert_eq!(contents(place), "01abc");
    assert_eq!(file.stream_position().await.unwrap(), 8);
    file.write_all(b"end").await.unwrap();
    file.sync_all().await.unwrap();
    assert_eq!(contents(place), "01abc\0\0\0end");
    assert!(file.set_len(u64::MAX).await.is_err());
}

pub async fn a_clone_shares_the_cursor(place: &Path) {
    let mut first = file(place, "").await;
    first.set_max_buf_size(100);
    first.write_all(b"first ").await.unwrap();
    let mut second = first.try_clone().await.unwrap();
    assert_eq!(second.max_buf_size(), 100);
    second.write_all(b"second ").await.unwrap();
    second.flush().await.unwrap();
    assert_eq!(first.stream_position().await.unwrap(), 13);
    drop(second);
    first.write_all(b"third").await.unwrap();
    first.flush().await.unwrap();
    assert_eq!(contents(place), "first second third");
}

pub async fn std_goes_on_after_outstanding_writes(place: &Path) {
    let mut file = file(place, "").await;
    file.write_all(b"ours ").await.unwrap();
    let mut std = file.into_std().await;
    std.write_all(b"std's ").unwrap();
    let mut file = fs::File::from(std);
    file.write_all(b"ours").await.unwrap();
    file.flush().await.unwrap();
    let mut std = file.try_into_std().unwrap();
    std::io::Seek::rewind(&mut std).unwrap();
    let mut text = String::new();
    std.read_to_string(&mut text).unwrap();
    assert_eq!(text, "ours std's ours");
    let mut file = fs::File::from(OwnedFd::from(std));
    assert_eq!(file.stream_position().await.unwrap(), 15);
}

pub async fn a_file_in_use_does_not_become_stds(place: &Path) {
    let (mut reader, mut writer) = fifo(place).await;
    let mut byte = [0];
    assert!(poll_once(pin!(reader.read(&mut byte))).is_pending());
    let mut reader = reader.try_into_std().unwrap_err();
    writer.write_all(b"x").unwrap();
    reader.read_exact(&mut byte).await.unwrap();
    assert_eq!(byte, *b"x");
    reader.try_into_std().unwrap();
}

pub async fn a_file_is_stds_as_soon_as_its_operation_is_answered(place: &Path) {
    let mut file = file(place, "0123456789").await;
    for _ in 0..50 {
        file.sync_all().await.unwrap();
        file = file.try_into_std().unwrap().into();
        file.sync_data().await.unwrap();
        file = file.try_into_std().unwrap().into();
        file.metadata().await.unwrap();
        file = file.try_into_std().unwrap().into();
        file.write_all(b"x").await.unwrap();
        file.flush().await.unwrap();
        file = file.try_into_std().unwrap().into();
        file.set_len(5).await.unwrap();
        file = file.try_into_std().unwrap().into();
        file.rewind().await.unwrap();
        file.read_exact(&mut [0; 3]).await.unwrap();
        file = file.try_into_std().unwrap().into();
    }
}

pub async fn a_seek_waits_for_its_turn(place: &Path) {
    let (mut reader, mut writer) = fifo(place).await;
    let mut byte = [0];
    assert!(poll_once(pin!(reader.read(&mut byte))).is_pending());
    assert_eq!(Pin::new(&mut reader).start_seek(SeekFrom::Start(0)).unwrap_err().kind(), io::ErrorKind::Other);
    writer.write_all(b"x").unwrap();
    poll_fn(|cx| Pin::new(&mut reader).poll_complete(cx)).await.unwrap();
    // A FIFO has no positions: the seek fails, and nothing is lost.
    assert_eq!(reader.seek(SeekFrom::Current(-1)).await.unwrap_err().raw_os_error(), Some(libc::ESPIPE));
    writer.write_all(b"y").unwrap();
    reader.read_exact(&mut byte).await.unwrap();

    // For a file, by the two steps of the trait.
    let mut file = file(place, "0123456789").await;
    Pin::new(&mut file).start_seek(SeekFrom::End(-3)).unwrap();
    assert_eq!(poll_fn(|cx| Pin::new(&mut file).poll_complete(cx)).await.unwrap(), 7);
    assert_eq!(poll_fn(|cx| Pin::new(&mut file).poll_complete(cx)).await.unwrap(), 7);
    file.read_exact(&mut byte).await.unwrap();
    assert_eq!(byte, *b"7");
    // The position of a seek that a read completes is kept.
    Pin::new(&mut file).start_seek(SeekFrom::Start(5)).unwrap();
    file.read_exact(&mut byte).await.unwrap();
    assert_eq!(byte, *b"5");
    assert_eq!(poll_fn(|cx| Pin::new(&mut file).poll_complete(cx)).await.unwrap(), 5);
}

pub async fn vectored_writes_go_as_one(place: &Path) {
    let mut file = file(place, "").await;
    assert!(file.is_write_vectored());
    let parts = [IoSlice::new(b"ab"), IoSlice::new(b""), IoSlice::new(b"cde")];
    assert_eq!(file.write_vectored(&parts).await.unwrap(), 5);
    assert_eq!(file.write_vectored(&[]).await.unwrap(), 0);
    assert_eq!(file.write(b"").await.unwrap(), 0);
    file.set_max_buf_size(3);
    assert_eq!(file.write_vectored(&parts).await.unwrap(), 3);
    file.flush().await.unwrap();
    assert_eq!(contents(place), "abcdeabc");
}

pub async fn the_buffer_has_the_size_that_is_set(place: &Path) {
    let mut file = file(place, "0123456789").await;
    assert_eq!(file.max_buf_size(), 2 << 20);
    file.set_max_buf_size(3);
    let mut buffer = [0; 10];
    assert_eq!(file.read(&mut buffer).await.unwrap(), 3);
    assert_eq!(file.write(b"abcdef").await.unwrap(), 3);
    file.set_max_buf_size(usize::MAX);
    assert_eq!(file.read(&mut buffer).await.unwrap(), 4);
    assert_eq!(file.write(&[b'x'; 3 << 20]).await.unwrap(), 3 << 20);
    file.flush().await.unwrap();
    assert_eq!(contents(place).len(), 10 + (3 << 20));
    let zero = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| file.set_max_buf_size(0)));
    assert!(zero.is_err());
}

pub async fn times_are_set(place: &Path) {
    let mut file = file(place, "").await;
    let second = |n| SystemTime::UNIX_EPOCH + Duration::from_secs(n);
    file.write_all(b"before").await.unwrap();
    file.set_times(fs::FileTimes::new().set_accessed(second(1000)).set_modified(second(2000))).await.unwrap();
    let metadata = file.metadata().await.unwrap();
    assert_eq!((metadata.accessed().unwrap(), metadata.modified().unwrap()), (second(1000), second(2000)));
    file.set_modified(second(3000)).await.unwrap();
    let metadata = std::fs::metadata(place.join("file")).unwrap();
    assert_eq!((metadata.accessed().unwrap(), metadata.modified().unwrap()), (second(1000), second(3000)));
}

pub async fn options_of_std_open(place: &Path) {
    use std::os::unix::fs::OpenOptionsExt;
    let mut std = std::fs::OpenOptions::new();
    std.read(true).create(true).mode(0o600);
    let mut options = fs::OpenOptions::from(std);
    let mut file = options.write(true).open(place.join("file")).await.unwrap();
    file.write_all(b"text").await.unwrap();
    file.rewind().await.unwrap();
    let mut text = String::new();
    file.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "text");
    assert_eq!(file.metadata().await.unwrap().permissions().mode() & 0o777, 0o600);
    let no_follow = fs::OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).clone();
    fs::symlink("file", place.join("symlink")).await.unwrap();
    assert_eq!(no_follow.open(place.join("symlink")).await.unwrap_err().raw_os_error(), Some(libc::ELOOP));
}

pub async fn directories_are_made_and_listed(place: &Path) {
    fs::DirBuilder::new().mode(0o700).create(place.join("private")).await.unwrap();
    assert_eq!(std::fs::metadata(place.join("private")).unwrap().mode() & 0o777, 0o700);
    let deep = place.join("a/b/c");
    assert_eq!(fs::DirBuilder::new().create(&deep).await.unwrap_err().kind(), io::ErrorKind::NotFound);
    for _ in 0..2 {
        fs::DirBuilder::new().recursive(true).create(&deep).await.unwrap();
    }
    for number in 0..100 {
        std::fs::write(deep.join(number.to_string()), "").unwrap();
    }
    fs::symlink("0", deep.join("symlink")).await.unwrap();
    let mut names = Vec::new();
    let mut entries = fs::read_dir(&deep).await.unwrap();
    while let Some(entry) = poll_fn(|cx| entries.poll_next_entry(cx)).await.unwrap() {
        assert_eq!(entry.path(), deep.join(entry.file_name()));
        assert_eq!(entry.ino(), entry.metadata().await.unwrap().ino());
        assert_eq!(entry.file_type().await.unwrap().is_symlink(), entry.file_name() == "symlink");
        names.push(entry.file_name().into_string().unwrap());
    }
    assert!(entries.next_entry().await.unwrap().is_none());
    names.sort();
    let mut expected: Vec<_> = (0..100).map(|number| number.to_string()).chain(["symlink".to_owned()]).collect();
    expected.sort();
    assert_eq!(names, expected);
}

pub async fn errors_are_alike(place: &Path) {
    let missing = place.join("missing");
    let code = |error: io::Error| (error.kind(), error.raw_os_error());
    let not_found = (io::ErrorKind::NotFound, Some(libc::ENOENT));
    assert_eq!(code(fs::File::open(&missing).await.unwrap_err()), not_found);
    assert_eq!(code(fs::read(&missing).await.unwrap_err()), not_found);
    assert_eq!(code(fs::read_dir(&missing).await.unwrap_err()), not_found);
    assert_eq!(code(fs::remove_file(&missing).await.unwrap_err()), not_found);
    assert!(!fs::try_exists(&missing).await.unwrap());
    let is_a_directory = (io::ErrorKind::IsADirectory, Some(libc::EISDIR));
    assert_eq!(code(fs::read(place).await.unwrap_err()), is_a_directory);
    assert_eq!(code(fs::write(place, "").await.unwrap_err()), is_a_directory);
    let mut directory = fs::File::open(place).await.unwrap();
    assert_eq!(code(directory.read(&mut [0]).await.unwrap_err()), is_a_directory);
    fs::write(place.join("there"), [0xff]).await.unwrap();
    assert_eq!(fs::File::create_new(place.join("there")).await.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read_to_string(place.join("there")).await.unwrap_err().kind(), io::ErrorKind::InvalidData);
    let nothing_asked = fs::OpenOptions::new().open(place.join("there")).await;
    assert_eq!(nothing_asked.unwrap_err().kind(), io::ErrorKind::InvalidInput);
    assert_eq!(fs::metadata("a\0b").await.unwrap_err().kind(), io::ErrorKind::InvalidInput);
    assert_eq!(fs::metadata("").await.unwrap_err().kind(), io::ErrorKind::NotFound);
}

pub async fn a_read_that_is_given_up_is_not_lost(place: &Path) {
    let mut file = file(place, "0123456789").await;
    let mut four = [0; 4];
    let given_up = poll_once(pin!(file.read(&mut four))).is_ready();
    // The next read gets its bytes, and a write or a seek uses the caller's position.
    let start = if given_up { 4 } else { 0 };
    let mut two = [0; 2];
    file.read_exact(&mut two).await.unwrap();
    assert_eq!(two[..], b"0123456789"[start..start + 2]);
    file.write_all(b"ab").await.unwrap();
    assert_eq!(file.stream_position().await.unwrap(), start as u64 + 4);
    file.flush().await.unwrap();
    assert_eq!(contents(place)[start + 2..start + 4], *"ab");
    let mut rest = String::new();
    file.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest, "0123456789"[start + 4..]);
}
