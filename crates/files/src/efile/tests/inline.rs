//! Hits and misses of the inline path. The pool has no threads, so an operation that is ready at once was a hit.
//!
//! If the file system cannot tell whether data is cached, a test says so and ends.

use std::io::{self, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::Poll;

use rustix::fs::{Advice, OFlags};
use rustix::io::Errno;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

use super::{CANCELLED, DONE, finish, poll, stepped};
use crate::aio_pool::{Pool, Port};
use crate::efile::inline::{self, Miss, Permit, Trial};
use crate::efile::observe::Stage::{self, InternalEntry, InternalReturn, Return};
use crate::efile::observe::operations;
use crate::efile::{Command, Descriptor, Driver, Inline, Request};
use crate::fs::{File, FileOption, OpenOptions};

/// An attempt that misses, then the pool's work.
pub(super) const MISSED: [Stage; 4] = [InternalEntry, InternalEntry, InternalReturn, Return(0)];
pub(super) const PAGE: usize = 4096;

fn stepped_inline() -> (Pool, Driver, Port) {
    let (pool, driver, port) = stepped();
    (pool, driver.inline(true), port)
}

pub(super) fn contents() -> Vec<u8> {
    (0..3 * PAGE).map(|index| (index / 7) as u8).collect()
}

/// A file whose contents are on the disk and in the cache, in a folder whose file system can tell.
pub(super) fn cached() -> Option<(TempDir, PathBuf)> {
    for folder in [std::env::temp_dir(), "/var/tmp".into(), env!("CARGO_MANIFEST_DIR").into()] {
        let Ok(folder) = tempfile::tempdir_in(folder) else { continue };
        let path = folder.path().join("file");
        std::fs::write(&path, contents()).unwrap();
        let (pool, driver, _) = stepped_inline();
        let file = finish(&pool, OpenOptions::new().read(true).open_with(&driver, &path)).unwrap();
        std::fs::File::open(&path).unwrap().sync_all().unwrap();
        // Another test may have asked, and not run the job yet.
        inline::detect(&std::fs::File::open(&path).unwrap(), true);
        if finish_now(file.read_at(vec![0; 1], 0)).is_some() {
            return Some((folder, path));
        }
    }
    eprintln!("SKIPPED: no file system here tells what it has in its cache");
    None
}

/// Takes pages from the cache.
fn evict(path: &Path, from: usize) {
    let file = std::fs::File::open(path).unwrap();
    rustix::fs::fadvise(&file, from as u64, None, Advice::DontNeed).unwrap();
}

fn trial() -> Trial {
    Permit::of_path(Inline::Always).unwrap().begin()
}

pub(super) fn finish_now<F: Future>(future: F) -> Option<F::Output> {
    match poll(pin!(future)) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

pub(super) fn open(pool: &Pool, driver: &Driver, path: &Path) -> File {
    let file = finish(pool, OpenOptions::new().read(true).open_with(driver, path)).unwrap();
    // The driver detects the type of the file system.
    while pool.run_one() {}
    file
}

#[test]
fn a_cached_read_is_answered_at_once() {
    let Some((_folder, path)) = cached() else { return };
    let (pool, driver, _) = stepped_inline();
    let file = open(&pool, &driver, &path);
    for (size, offset, count) in
        [(PAGE, 0, PAGE), (100, 50, 100), (PAGE, 3 * PAGE - 10, 10), (PAGE, 3 * PAGE, 0), (0, 0, 0)]
    {
        let (answer, buffer) = finish_now(file.read_at(vec![0; size], offset as u64)).unwrap();
        assert_eq!(answer.unwrap(), count);
        assert_eq!(buffer.len(), size);
        assert_eq!(buffer[..count], contents()[offset..offset + count]);
    }
    assert_eq!(operations(file.port())[1..], [const { (Command::Preadv, DONE) }; 5].map(|(c, s)| (c, s.to_vec())));
    assert!(!pool.run_one());
}

#[test]
fn the_cursor_reads_at_once() {
    let Some((_folder, path)) = cached() else { return };
    let (pool, driver, _) = stepped_inline();
    let mut file = open(&pool, &driver, &path);
    let mut bytes = [0; 100];
    assert_eq!(finish_now(file.read(&mut bytes)).unwrap().unwrap(), 100);
    assert_eq!(bytes[..], contents()[..100]);
    assert_eq!(finish_now(file.seek(SeekFrom::Current(50))).unwrap().unwrap(), 150);
    let mut rest = Vec::new();
    finish_now(file.read_to_end(&mut rest)).unwrap().unwrap();
    assert_eq!(rest, contents()[150..]);
    assert!(operations(file.port()).into_iter().all(|(_, stages)| stages == DONE));
    assert!(!pool.run_one());
    // As after a miss.
    file.set_inline(false);
    assert!(finish_now(file.read(&mut bytes)).is_none());
    assert_eq!(finish(&pool, file.read(&mut bytes)).unwrap(), 0);
}

#[test]
fn a_file_that_may_be_written_seeks_at_once() {
    let Some((_folder, path)) = cached() else { return };
    let (pool, driver, _) = stepped_inline();
    let mut options = OpenOptions::new();
    let mut file = finish(&pool, options.read(true).write(true).open_with(&driver, &path)).unwrap();
    assert_eq!(finish_now(file.seek(SeekFrom::End(-10))).unwrap().unwrap(), contents().len() as u64 - 10);
    // The pool finds the error again.
    let error = finish(&pool, file.seek(SeekFrom::Current(-(1 << 30)))).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(Errno::INVAL.raw_os_error()));
    let mut rest = Vec::new();
    finish(&pool, file.read_to_end(&mut rest)).unwrap();
    assert_eq!(rest, contents()[contents().len() - 10..]);
}

/// Whether a write hits depends on the file system and the time.
#[test]
fn writes_end_in_the_cache_or_in_the_pool() {
    let Some((_folder, path)) = cached() else { return };
    let (pool, driver, _) = stepped_inline();
    let mut options = OpenOptions::new();
    let mut file = finish(&pool, options.write(true).truncate(true).open_with(&driver, &path)).unwrap();
    let mut expected = Vec::new();
    for size in [1, 100, PAGE, 0, 100, inline::MAX_SIZE, inline::MAX_SIZE + 1, 7] {
        let bytes: Vec<u8> = (0..size).map(|index| (index % 251) as u8).collect();
        finish(&pool, file.write_all(&bytes)).unwrap();
        expected.extend(bytes);
    }
    finish(&pool, file.flush()).unwrap();
    let (answer, _) = finish(&pool, file.write_at(vec![255; 100], 50));
    let count = answer.unwrap();
    expected[50..50 + count].fill(255);
    let error = finish(&pool, file.write_at(vec![255; 100], u64::MAX)).0.unwrap_err();
    assert_eq!(error.raw_os_error(), Some(Errno::INVAL.raw_os_error()), "not at the cursor");
    assert!(std::fs::read(&path).unwrap() == expected);
    let ended = operations(file.port()).into_iter().filter(|(command, _)| *command == Command::Write);
    assert!(ended.into_iter().all(|(_, stages)| stages == DONE || stages == MISSED));
}

/// The bytes go from the cache to the caller, unless some were read ahead.
#[test]
fn bytes_that_were_read_ahead_come_first() {
    let Some((_folder, path)) = cached() else { return };
    let (pool, driver, _) = stepped_inline();
    let mut file = open(&pool, &driver, &path);
    finish(&pool, file.set_option(FileOption::ReadAhead(100))).unwrap();
    let mut bytes = [0; 150];
    assert_eq!(finish_now(file.read(&mut bytes[..10])).unwrap().unwrap(), 10);
    assert_eq!(finish_now(file.stream_position()).unwrap().unwrap(), 10);
    finish_now(file.read_exact(&mut bytes[10..20])).unwrap().unwrap();
    finish_now(file.read_exact(&mut bytes[20..])).unwrap().unwrap();
    assert_eq!(bytes[..], contents()[..150]);
    assert_eq!(finish_now(file.seek(SeekFrom::Current(0))).unwrap().unwrap(), 150);
}

/// A quick disk makes a miss a hit. The probes show which it was; the bytes are the same.
#[test]
fn uncached_bytes_are_read_by_the_pool() {
    let Some((_folder, path)) = cached() else { return };
    for from in [0, PAGE, 2 * PAGE] {
        let (pool, driver, _) = stepped_inline();
        let mut file = open(&pool, &driver, &path);
        evict(&path, from);
        let (answer, buffer) = finish(&pool, file.read_at(vec![0; 3 * PAGE], 0));
        assert_eq!(answer.unwrap(), 3 * PAGE);
        assert_eq!(buffer, contents());
        evict(&path, from);
        let mut all = Vec::new();
        finish(&pool, file.read_to_end(&mut all)).unwrap();
        assert_eq!(all, contents());
        for (_, stages) in operations(file.port()) {
            assert!(stages == DONE || stages == MISSED, "{stages:?}");
        }
    }
}

#[test]
fn a_miss_goes_to_the_pool() {
    let (pool, driver, port) = stepped_inline();
    let operation = |asked| {
        let attempt = move |_: &Request, buffer: &mut Vec<u8>, _: &mut Trial| {
            buffer.push(1);
            Err(if asked { Miss::NotCached } else { Miss::Refused })
        };
        let work = |_: &Request, buffer: &mut Vec<u8>| {
            buffer.push(2);
            Ok(7)
        };
        let permit = Driver::permit(Inline::Always);
        driver.run_inline(permit, port, Request::new(Command::Pwd), Vec::new(), attempt, move || work)
    };
    for asked in [true, false] {
        let mut operation = pin!(operation(asked));
        assert!(poll(operation.as_mut()).is_pending());
        let (answer, buffer) = finish(&pool, operation);
        assert_eq!((answer.unwrap(), buffer.unwrap()), (7, vec![1, 2]));
    }
    assert!(finish_now(operation(true)).is_none());
    let cancelled = vec![InternalEntry, Return(CANCELLED)];
    let stages: Vec<_> = operations(port).into_iter().map(|(_, stages)| stages).collect();
    assert_eq!(stages, [MISSED.to_vec(), MISSED.to_vec(), cancelled]);
}

/// The pool could not repeat a read that took bytes.
#[test]
fn a_fifo_is_not_read_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (pool, driver, _) = stepped_inline();
    let fifo = folder.path().join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let mut pipe = finish(&pool, OpenOptions::new().read(true).write(true).open_with(&driver, &fifo)).unwrap();
    std::fs::OpenOptions::new().write(true).open(&fifo).unwrap().write_all(b"1").unwrap();
    assert_eq!(finish(&pool, pipe.read(&mut [0])).unwrap(), 1);
    assert_eq!(operations(pipe.port())[1], (Command::Read, DONE.to_vec()));
}

/// The kernel tells the error of a socket once: the next read would find the end of the stream.
#[test]
fn a_cut_transfer_does_not_look_whole() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let mut peer = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut ours, _) = listener.accept().unwrap();
    ours.write_all(b"unread").unwrap();
    peer.write_all(b"part").unwrap();
    let mut ours = File::from_std(std::os::fd::OwnedFd::from(ours).into());
    ours.set_inline(true);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut bytes = [0; 16];
        assert_eq!(ours.read(&mut bytes).await.unwrap(), 4);
        // With unread bytes, a close resets the connection.
        assert_eq!(peer.peek(&mut [0]).unwrap(), 1);
        drop(peer);
        let error = ours.read(&mut bytes).await.unwrap_err();
        assert_eq!(error.raw_os_error(), Some(Errno::CONNRESET.raw_os_error()));
    });
}

#[test]
fn a_large_read_is_not_attempted() {
    let Some((_folder, path)) = cached() else { return };
    let (pool, driver, _) = stepped_inline();
    let file = open(&pool, &driver, &path);
    finish(&pool, file.read_at(vec![0; inline::MAX_SIZE + 1], 0)).0.unwrap();
    assert_eq!(operations(file.port())[1], (Command::Preadv, DONE.to_vec()));
}

/// The kind of its file system is not known, so no read goes without the flag.
#[test]
fn a_file_that_refuses_is_asked_once() {
    let memory = rustix::fs::memfd_create("memory", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    let memory = std::fs::File::from(memory);
    (&memory).write_all(&contents()).unwrap();
    let (pool, driver, port) = stepped_inline();
    let file = File::new(Descriptor::new(driver, port, OFlags::RDWR.bits() as i32, Inline::Always, memory));
    for stages in [&MISSED[..], &DONE] {
        let (answer, buffer) = finish(&pool, file.read_at(vec![0; PAGE], PAGE as u64));
        assert_eq!(answer.unwrap(), PAGE);
        assert_eq!(buffer, contents()[PAGE..2 * PAGE]);
        assert_eq!(operations(port).last().unwrap(), &(Command::Preadv, stages.to_vec()));
    }
}

#[test]
fn files_in_memory_are_read_at_once_unless_there_is_swap() {
    let has_swap = rustix::system::sysinfo().totalswap > 0;
    // Not where no attempt succeeds, as in an emulated processor.
    let has_attempts = cached().is_some();
    let Some(folder) = tempfile::tempdir_in("/dev/shm").ok().filter(|_| !has_swap && has_attempts) else {
        eprintln!("SKIPPED: there is no /dev/shm, there is swap, or no attempt succeeds");
        return;
    };
    let path = folder.path().join("file");
    std::fs::write(&path, contents()).unwrap();
    let (pool, driver, _) = stepped_inline();
    let mut file = finish(&pool, OpenOptions::new().read(true).write(true).open_with(&driver, &path)).unwrap();
    let (answer, buffer) = finish_now(file.read_at(vec![0; 2 * PAGE], 2 * PAGE as u64)).unwrap();
    assert_eq!((answer.unwrap(), &buffer[..PAGE]), (PAGE, &contents()[2 * PAGE..]));
    let mut all = Vec::new();
    finish_now(file.read_to_end(&mut all)).unwrap().unwrap();
    assert_eq!(all, contents());
    // A job has opened a file there, at the latest.
    inline::detect(&std::fs::File::open(&path).unwrap(), true);
    assert_eq!(inline::read_file(&path, &mut trial()).unwrap(), contents());
}

#[test]
fn names_are_looked_up_at_once() {
    let Some((folder, path)) = cached() else { return };
    let (pool, driver, port) = stepped_inline();
    let look = |path: &Path| {
        let request = Request::new(Command::Fstat).s1(path).i1(-1);
        driver.try_or_run(
            request,
            |request, trial| inline::metadata(request.path()?, trial),
            |request| std::fs::metadata(request.path()?),
        )
    };
    // Here the file system is detected, at the latest.
    finish(&pool, look(&path)).unwrap();
    while pool.run_one() {}
    let missing = folder.path().join("missing");
    assert!(!missing.try_exists().unwrap());
    let (known, missing) = (finish_now(look(&path)).unwrap(), finish_now(look(&missing)).unwrap());
    assert_eq!(known.unwrap().len(), contents().len() as u64);
    assert_eq!(missing.unwrap_err().raw_os_error(), Some(Errno::NOENT.raw_os_error()));
    let with_nul = finish_now(look(Path::new("a\0b"))).unwrap();
    assert_eq!(with_nul.unwrap_err().raw_os_error(), Some(Errno::INVAL.raw_os_error()));
    let stages = |errno: Errno| vec![InternalEntry, InternalReturn, Return(errno.raw_os_error())];
    let of_names: Vec<_> = operations(port).into_iter().skip(1).map(|(_, stages)| stages).collect();
    assert_eq!(of_names, [DONE.to_vec(), stages(Errno::NOENT), stages(Errno::INVAL)]);

    let opened = finish_now(OpenOptions::new().read(true).open_with(&driver, &path)).unwrap().unwrap();
    assert_eq!(operations(opened.port()), [(Command::Open, DONE.to_vec())]);
    let flags = rustix::fs::fcntl_getfl(&opened).unwrap();
    assert!(!flags.contains(OFlags::NONBLOCK));
}

#[test]
fn a_file_that_was_only_read_is_closed_at_once() {
    let Some((folder, path)) = cached() else { return };
    let (pool, driver, _) = stepped_inline();
    let is_closed = |port: Port| operations(port).last() == Some(&(Command::Close, DONE.to_vec()));
    let is_closed_at_once = |file: File| {
        let port = file.port();
        drop(file);
        let at_once = is_closed(port);
        assert_eq!(pool.run_one(), !at_once);
        assert!(is_closed(port));
        at_once
    };
    assert!(is_closed_at_once(open(&pool, &driver, &path)));
    let file = open(&pool, &driver, &path);
    finish_now(file.close()).expect("no wait").unwrap();
    assert!(!pool.run_one());
    let written = OpenOptions::new().read(true).write(true).clone();
    assert!(!is_closed_at_once(finish(&pool, written.open_with(&driver, &path)).unwrap()));
    let off = open(&pool, &driver, &path);
    off.set_inline(false);
    assert!(!is_closed_at_once(off));
    // The close frees the blocks of a file without a name.
    let nameless = open(&pool, &driver, &path);
    std::fs::remove_file(folder.path().join("file")).unwrap();
    assert!(!is_closed_at_once(nameless));
}

/// For a name of any kind, an attempt gives the pool's result, or nothing.
#[test]
fn an_attempt_answers_as_std_does() {
    let Some((folder, path)) = cached() else { return };
    let folder = folder.path();
    for (target, link) in [("file", "link"), ("missing", "dangling"), ("loop", "loop"), (".", "folder")] {
        std::os::unix::fs::symlink(target, folder.join(link)).unwrap();
    }
    std::fs::write(folder.join("empty"), b"").unwrap();
    std::fs::write(folder.join("large"), vec![1; inline::MAX_SIZE]).unwrap();
    std::fs::write(folder.join("largest"), vec![1; inline::MAX_SIZE - 1]).unwrap();
    let fifo = folder.join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let mut names: Vec<PathBuf> = [
        "file", "link", "dangling", "loop", "folder", "missing", "file/under", "folder/file", "empty", "large",
        "largest", ".",
    ]
    .map(|name| folder.join(name))
    .to_vec();
    names.extend(
        ["", ".", "..", "/dev/null", "/proc/self/status", "/proc/self/exe", "/proc/self/cwd", "/"].map(PathBuf::from),
    );
    names.push(folder.join("n".repeat(300)));
    // Here the file system is detected, at the latest.
    inline::detect(&std::fs::File::open(&path).unwrap(), true);
    for name in &names {
        let of = |metadata: std::fs::Metadata| {
            use std::os::unix::fs::MetadataExt;
            (metadata.ino(), metadata.dev(), metadata.mode(), metadata.len(), metadata.modified().unwrap())
        };
        same(name, inline::metadata(name, &mut trial()).map(of), std::fs::metadata(name).map(of));
        same(name, inline::symlink_metadata(name, &mut trial()).map(of), std::fs::symlink_metadata(name).map(of));
        same(name, inline::read_file(name, &mut trial()), std::fs::read(name));
        same(name, inline::read_link(name, &mut trial()), std::fs::read_link(name));
        same(name, inline::canonicalize(name, &mut trial()), std::fs::canonicalize(name));
        let opened = |file: std::fs::File| of(file.metadata().unwrap());
        same(
            name,
            inline::open(name, OFlags::CLOEXEC, &mut trial()).map(|(file, _)| opened(file)),
            std::fs::File::open(name).map(opened),
        );
    }
    assert_eq!(inline::read_file(&path, &mut trial()).unwrap(), contents());
    assert_eq!(inline::read_link(&folder.join("link"), &mut trial()).unwrap(), Path::new("file"));
    let direct = std::fs::canonicalize(&path).unwrap();
    assert_eq!(inline::canonicalize(&folder.join("./file"), &mut trial()).unwrap(), direct);
    assert!(
        matches!(inline::open(&fifo, OFlags::CLOEXEC, &mut trial()), Err(Miss::NotCached)),
        "it would wait for a writer"
    );
    assert!(matches!(inline::read_file(&fifo, &mut trial()), Err(Miss::NotCached)));
    for changes in [OFlags::TRUNC, OFlags::WRONLY, OFlags::RDWR, OFlags::CREATE, OFlags::APPEND, OFlags::DIRECT] {
        assert!(!inline::can_open(OFlags::CLOEXEC | changes), "{changes:?}");
    }
}

fn same<T: PartialEq + std::fmt::Debug>(name: &Path, attempt: inline::Attempt<T>, std: io::Result<T>) {
    match (attempt, std) {
        (Err(Miss::NotCached | Miss::Refused | Miss::Unknown { .. }), _) => {}
        (Ok(value), Ok(right)) => assert_eq!(value, right, "{name:?}"),
        (Err(Miss::Error(error)), Err(right)) => assert_eq!(error.raw_os_error(), right.raw_os_error(), "{name:?}"),
        (attempt, right) => panic!("{name:?}: {attempt:?} instead of {right:?}"),
    }
}

#[test]
fn a_task_with_all_answers_in_the_cache_gives_way() {
    const READS: usize = 10_000;
    let Some((_folder, path)) = cached() else { return };
    let driver = Driver::new(Pool::builder().threads(1).build()).inline(true);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let done = std::rc::Rc::new(std::cell::Cell::new(0));
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let file = OpenOptions::new().read(true).open_with(&driver, &path).await.unwrap();
        let reader = tokio::task::spawn_local({
            let done = std::rc::Rc::clone(&done);
            async move {
                let mut buffer = vec![0; 16];
                for _ in 0..READS {
                    let (answer, back) = file.read_at(buffer, 0).await;
                    answer.unwrap();
                    buffer = back;
                    done.set(done.get() + 1);
                }
            }
        });
        let other = tokio::task::spawn_local({
            let done = std::rc::Rc::clone(&done);
            async move { done.get() }
        });
        let seen = other.await.unwrap();
        assert!(seen > 0 && seen < READS, "the other task had its turn after {seen} reads");
        reader.await.unwrap();
    });
}
