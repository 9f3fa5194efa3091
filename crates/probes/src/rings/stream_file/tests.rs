use std::fs;
use std::path::Path;
use std::process::Command;
use std::ptr;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicPtr};
use std::thread;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::*;
use crate::rings::synthetic::{UUID, create, finish, packets, write_packet};

const PAGES: u64 = PAGE as u64;
const SUB_BUFFERS: u64 = SUB_BUFFER as u64;

fn length(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

#[test]
fn grows_by_as_many_pages_as_it_must() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ring");
    let stream = create(&path, UUID, 0, 100 * PAGES + 1, 1).unwrap();
    assert_eq!((stream.limit(), stream.prepared(), length(&path)), (100 * PAGES, PAGES, PAGES));
    assert_eq!(stream.prepare(70 * PAGES + 1).unwrap(), 71 * PAGES);
    assert_eq!(stream.prepare(3).unwrap(), 71 * PAGES);
    assert_eq!(stream.prepare(u64::MAX).unwrap(), 100 * PAGES);
    assert_eq!(length(&path), 100 * PAGES);
    stream.populate(0, u64::MAX);
    assert_eq!(packets(&fs::read(&path).unwrap()).unwrap().len(), 100);
}

/// Needs root, FUSE and bindfs.
#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(dyntrace_portable, ignore = "POSIX does not tell that a file system has a server")]
fn a_server_that_appends_changed_pages_is_found_with_bindfs() {
    let (dir, below) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let check = || check_write_back(&Folder::open(dir.path()).unwrap());
    check().unwrap();
    let mounted = Command::new("bindfs").arg(below.path()).arg(dir.path()).output();
    if !mounted.as_ref().is_ok_and(|ran| ran.status.success()) {
        return eprintln!("SKIPPED: no folder on FUSE: {mounted:?}");
    }
    let checked = check();
    assert!(Command::new("umount").arg(dir.path()).status().unwrap().success());
    // FUSE removes a file that was open under another name, and once it is closed.
    let left = fs::read_dir(below.path()).unwrap().count();
    assert!(checked.unwrap_err().to_string().contains("choose a directory on another file system"));
    assert_eq!(left, 0);
}

#[test]
fn files_leave_addresses_for_others() {
    let dir = tempfile::tempdir().unwrap();
    let create = |number: usize| create(&dir.path().join(number.to_string()), UUID, 0, u64::MAX, 0).unwrap();
    let files: Vec<_> = (0..40).map(create).collect();
    assert!(files.iter().all(|file| file.limit() >= SMALLEST));
    assert!(files.iter().map(StreamFile::limit).sum::<u64>() < 1 << 46);
}

#[test]
fn a_file_that_outgrows_its_mapping_has_a_longer_one_of_the_same_memory() {
    let dir = tempfile::tempdir().unwrap();
    let stream = create(&dir.path().join("ring"), UUID, 0, 1 << 30, PAGES).unwrap();
    let first = stream.base();
    assert_eq!((stream.views.covered(), stream.prepare(4 << 20).unwrap(), stream.base()), (4 << 20, 4 << 20, first));
    write_packet(&stream, 0, SUB_BUFFERS, 1, b"old");
    assert_eq!(stream.prepare((4 << 20) + 1).unwrap(), (4 << 20) + PAGES);
    // Less where addresses are scarce, as in 32-bit programs.
    assert_eq!(stream.views.covered(), stream.limit().min(64 << 20));
    let second = stream.base();
    assert_ne!(first, second);
    let page = |base: *mut u8| {
        // SAFETY: the first page is in both mappings, and no other thread writes it.
        unsafe { std::slice::from_raw_parts(base, PAGE) }.to_vec()
    };
    assert_eq!(page(first), page(second));
    write_packet(&stream, 0, SUB_BUFFERS, 2, b"new");
    assert_eq!(page(first), page(second));
    assert_eq!(stream.prepare(65 << 20).unwrap(), stream.limit().min(65 << 20));
    assert_eq!(stream.views.covered(), stream.limit());
}

#[test]
fn threads_that_outgrow_a_mapping_at_once_share_the_next() {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..20 {
        let stream = create(&dir.path().join(number.to_string()), UUID, 0, 1 << 30, 4 << 20).unwrap();
        let start = Barrier::new(4);
        thread::scope(|scope| {
            for more in 1..=4 {
                let (stream, start) = (&stream, &start);
                scope.spawn(move || {
                    let upto = (4 << 20) + more * PAGES;
                    start.wait();
                    assert!(stream.prepare(upto).unwrap() >= upto);
                    // Faults if the page lies in no mapping.
                    write_packet(stream, upto - PAGES, PAGES, more, b"");
                });
            }
        });
        assert_eq!(stream.views.covered(), stream.limit().min(64 << 20));
    }
}

#[test]
fn files_that_hold_little_take_few_addresses() {
    if !is_child() {
        return run_in_child("files_that_hold_little_take_few_addresses", &[]);
    }
    // Not each system tells it.
    let Some(before) = os::used_addresses() else { return };
    let dir = tempfile::tempdir().unwrap();
    let create = |number: usize| create(&dir.path().join(number.to_string()), UUID, 0, 1 << 30, PAGES).unwrap();
    let files: Vec<_> = (0..17).map(create).collect();
    let taken = os::used_addresses().unwrap() - before;
    assert!(taken < 100 << 20, "{taken} bytes");
    // A file fails to grow where no addresses remain, and goes on when there are some again.
    let used = os::used_addresses().unwrap();
    setrlimit(Resource::As, Rlimit { current: Some(used + (32 << 20)), maximum: None }).unwrap();
    assert_eq!(files[0].prepare(5 << 20).unwrap_err().raw_os_error(), Some(libc::ENOMEM));
    assert_eq!(files[0].prepared(), PAGES);
    setrlimit(Resource::As, Rlimit { current: None, maximum: None }).unwrap();
    assert_eq!(files[0].prepare(5 << 20).unwrap(), 5 << 20);
}

#[test]
fn is_for_its_owner_and_takes_nobodys_place() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ring");
    create(&path, UUID, 0, SUB_BUFFERS, 0).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let again = create(&path, UUID, 0, SUB_BUFFERS, 0).err().unwrap();
    assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
    assert!(path.exists());
}

#[test]
fn pages_that_are_there_and_pages_to_come_tell_what_was_lost() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ring");
    let stream = create(&path, UUID, 0, 10 * PAGES, 8 * PAGES).unwrap();
    stream.set_discarded(3 * PAGES - 1, 5);
    stream.prepare(10 * PAGES).unwrap();
    let discarded: Vec<u64> =
        packets(&fs::read(&path).unwrap()).unwrap().iter().map(|packet| packet.discarded).collect();
    assert_eq!(discarded, [0, 0, 0, 5, 5, 5, 5, 5, 5, 5]);
}

#[test]
fn finishing_refuses_what_is_no_row_of_packets() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ring");
    let stream = create(&path, UUID, 0, 10 * PAGES, 8 * PAGES).unwrap();
    write_packet(&stream, 0, 2 * PAGES, 1, b"");
    drop(stream);
    let whole = fs::read(&path).unwrap();
    let mut damaged = whole.clone();
    damaged[5 * PAGE] = 0;
    for (bytes, place) in [(&damaged[..], 5 * PAGE), (&whole[..8 * PAGE - 1], 7 * PAGE), (&whole[..PAGE], 0)] {
        fs::write(&path, bytes).unwrap();
        let error = finish(&path, true).unwrap_err();
        assert!(error.to_string().ends_with(&format!("byte {place}")), "{error}");
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

/// Two threads append while a third enters packets and a fourth reads the file.
#[test]
fn is_a_row_of_packets_at_every_instant() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ring");
    let limit = 24 << 20;
    let stream = create(&path, UUID, 0, limit, 0).unwrap();
    let grown = AtomicBool::new(false);
    thread::scope(|scope| {
        let appenders = [7 * PAGES, SUB_BUFFERS].map(|step| {
            let stream = &stream;
            scope.spawn(move || {
                let mut upto = 0;
                while upto < limit {
                    upto = (upto + step).min(limit);
                    assert!(stream.prepare(upto).unwrap() <= limit);
                }
            })
        });
        scope.spawn(|| {
            for sequence in 1..=limit / SUB_BUFFERS {
                while stream.prepared() < sequence * SUB_BUFFERS && !grown.load(Ordering::Acquire) {
                    thread::yield_now();
                }
                write_packet(&stream, (sequence - 1) * SUB_BUFFERS, SUB_BUFFERS, sequence, &[1; 1000]);
            }
        });
        scope.spawn(|| {
            loop {
                let last = grown.load(Ordering::Acquire);
                let bytes = fs::read(&path).unwrap();
                assert!(packets(&bytes).is_some(), "{} bytes are no row of packets", bytes.len());
                if last {
                    break;
                }
            }
        });
        let results = appenders.map(|appender| appender.join());
        grown.store(true, Ordering::Release);
        assert!(results.iter().all(Result::is_ok));
    });
    assert_eq!((stream.prepared(), length(&path)), (limit, limit));
    assert_eq!(packets(&fs::read(&path).unwrap()).unwrap().len() as u64, limit / SUB_BUFFERS);
}

/// A handler makes room while the thread it interrupts does, too.
#[test]
fn grows_in_signal_handlers() {
    static STREAM: AtomicPtr<StreamFile> = AtomicPtr::new(ptr::null_mut());
    static HANDLED: AtomicU64 = AtomicU64::new(0);
    extern "C" fn handler(_: libc::c_int) {
        // SAFETY: the stream was put there before the first signal, and the test ends after the last.
        let stream = unsafe { &*STREAM.load(Ordering::Relaxed) };
        stream.prepare(stream.prepared() + PAGES).unwrap();
        HANDLED.fetch_add(1, Ordering::Relaxed);
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ring");
    // Some handlers add a mapping.
    let limit = 3000 * PAGES;
    let mut stream = create(&path, UUID, 0, limit, 0).unwrap();
    STREAM.store(&mut stream, Ordering::Relaxed);
    let handler: extern "C" fn(libc::c_int) = handler;
    // SAFETY: the handler is async-signal-safe. The threads that get signals run until all are sent.
    let this = unsafe {
        libc::signal(libc::SIGUSR1, handler as libc::sighandler_t);
        libc::pthread_self()
    };
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                // SAFETY: that thread waits for this one.
                unsafe { libc::pthread_kill(this, libc::SIGUSR1) };
                thread::yield_now();
            }
        });
        while stream.prepared() < limit || HANDLED.load(Ordering::Relaxed) == 0 {
            stream.prepare(stream.prepared() + PAGES).unwrap();
        }
        done.store(true, Ordering::Release);
    });
    assert_eq!(packets(&fs::read(&path).unwrap()).unwrap().len() as u64, limit / PAGES);
}

#[test]
fn errno_stays_as_it_was() {
    // SAFETY: as in KeptErrno.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: this thread's own.
    unsafe { *errno = 7 };
    {
        let _kept = KeptErrno::new();
        // SAFETY: as above.
        unsafe { *errno = 8 };
    }
    // SAFETY: as above.
    assert_eq!(unsafe { *errno }, 7);
}

/// Runs the test of that name again in a process of its own, started by `starter`, and sees it succeed.
fn run_in_child(name: &str, starter: &[&str]) {
    let program = std::env::current_exe().unwrap();
    let name = format!("rings::stream_file::tests::{name}");
    let arguments = [program.to_str().unwrap(), &name, "--exact", "--nocapture"];
    let command = [starter, &arguments].concat();
    // Its output goes through pipes: its file size limit would hold for our own file, too.
    let output = Command::new(command[0]).args(&command[1..]).env("DYNTRACE_TEST_CHILD", "1").output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

fn is_child() -> bool {
    std::env::var_os("DYNTRACE_TEST_CHILD").is_some()
}

#[test]
fn a_size_that_the_process_may_not_make_is_an_error() {
    if !is_child() {
        return run_in_child("a_size_that_the_process_may_not_make_is_an_error", &[]);
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ring");
    let stream = create(&path, UUID, 0, 1 << 20, 8 * PAGES).unwrap();
    setrlimit(Resource::Fsize, Rlimit { current: Some(10 * PAGES + 100), maximum: None }).unwrap();
    assert_eq!(stream.prepare(12 * PAGES).unwrap_err().raw_os_error(), Some(libc::EFBIG));
    assert_eq!(stream.prepare(9 * PAGES).unwrap(), 9 * PAGES);
    assert_eq!(length(&path), 9 * PAGES);
    let small = create(&dir.path().join("small"), UUID, 0, 1 << 20, u64::MAX).unwrap();
    assert_eq!((small.limit(), small.prepared()), (10 * PAGES, 10 * PAGES));
}

/// A folder for the file system that the child mounts there for itself, if this is not the child and it may do so.
fn mount_point(kind: &str) -> Option<tempfile::TempDir> {
    let dir = tempfile::tempdir().unwrap();
    let tried = Command::new("unshare").args(["-rm", "mount", "-t", kind, "none"]).arg(dir.path()).output();
    if tried.is_ok_and(|output| output.status.success()) {
        return Some(dir);
    }
    eprintln!("SKIPPED: a file on {kind}: this user may not mount one with unshare -rm");
    None
}

fn run_on_mount(name: &str, kind: &str, options: &str) {
    let Some(dir) = mount_point(kind) else { return };
    let script = format!("mount -t {kind} -o {options} none \"$0\" && cd \"$0\" && exec \"$@\"");
    run_in_child(name, &["unshare", "-rm", "sh", "-c", &script, dir.path().to_str().unwrap()]);
}

#[test]
fn a_full_disk_leaves_whole_pages() {
    if !is_child() {
        return run_on_mount("a_full_disk_leaves_whole_pages", "tmpfs", "size=256k,mode=700");
    }
    fs::write("other", [0; 100_000]).unwrap();
    let path = Path::new("ring");
    let stream = create(path, UUID, 0, 1 << 20, PAGES).unwrap();
    assert_eq!(stream.prepare(1 << 20).unwrap_err().raw_os_error(), Some(libc::ENOSPC));
    let mut upto = PAGES;
    let full = loop {
        match stream.prepare(upto) {
            Ok(prepared) => assert_eq!(prepared, length(path)),
            Err(error) => break error,
        }
        upto += PAGES;
    };
    assert_eq!(full.raw_os_error(), Some(libc::ENOSPC));
    assert_eq!(packets(&fs::read(path).unwrap()).unwrap().len() as u64, upto / PAGES - 1);
    // All prepared pages can be written.
    stream.populate(0, u64::MAX);
    write_packet(&stream, 0, stream.prepared(), 1, &vec![1; (stream.prepared() - PAGES) as usize]);
    fs::remove_file("other").unwrap();
    assert_eq!(stream.prepare(upto).unwrap(), upto);
}

#[test]
fn grows_where_space_cannot_be_taken_beforehand() {
    if !is_child() {
        return run_on_mount("grows_where_space_cannot_be_taken_beforehand", "ramfs", "mode=700");
    }
    let path = Path::new("ring");
    let stream = create(path, UUID, 0, 1 << 20, PAGES).unwrap();
    let refused = fallocate(stream.descriptor.get().unwrap(), FallocateFlags::KEEP_SIZE, 0, PAGES);
    assert_eq!(refused, Err(Errno::OPNOTSUPP));
    assert_eq!(stream.prepare(1 << 20).unwrap(), 1 << 20);
    assert_eq!(length(path), 1 << 20);
}
