//! Opens and reads for which fanotify(7) asks a process.

use std::ffi::CString;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use dyntrace::fs::{self, File};
use rustix::thread::gettid;
use tokio::io::AsyncReadExt;

use crate::missing::skip;
use crate::{inside, run};

/// Makes a group that is asked for opens and reads of the folder's files.
fn group(folder: &Path) -> io::Result<OwnedFd> {
    let checked = |answer| if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) };
    let flags = libc::FAN_CLASS_CONTENT | libc::FAN_CLOEXEC | libc::FAN_REPORT_TID;
    // SAFETY: plain numbers.
    let group = checked(unsafe { libc::fanotify_init(flags, libc::O_RDONLY as _) })?;
    // SAFETY: made above.
    let group = unsafe { OwnedFd::from_raw_fd(group) };
    let folder = CString::new(folder.as_os_str().as_bytes()).unwrap();
    let mask = libc::FAN_OPEN_PERM | libc::FAN_ACCESS_PERM | libc::FAN_EVENT_ON_CHILD;
    let (fd, at) = (group.as_raw_fd(), libc::AT_FDCWD);
    // SAFETY: a group, and a text that lives.
    checked(unsafe { libc::fanotify_mark(fd, libc::FAN_MARK_ADD, mask, at, folder.as_ptr()) })?;
    Ok(group)
}

/// Allows all accesses, and tells which threads have waited.
fn answer(group: &OwnedFd, mut asked: impl FnMut(i32)) {
    // Aligned as events are.
    let mut events = [0_u64; 512];
    loop {
        // SAFETY: any bytes may be written there.
        let length = unsafe { libc::read(group.as_raw_fd(), events.as_mut_ptr().cast(), size_of_val(&events)) };
        let length = usize::try_from(length).expect("events");
        let mut rest = 0;
        while rest < length {
            // SAFETY: the kernel has written whole events.
            let event: libc::fanotify_event_metadata =
                unsafe { events.as_ptr().byte_add(rest).cast::<libc::fanotify_event_metadata>().read() };
            rest += event.event_len as usize;
            // The thread sleeps by then.
            thread::sleep(Duration::from_micros(200));
            asked(event.pid);
            // SAFETY: the event's descriptor is this function's.
            let _of_event = unsafe { OwnedFd::from_raw_fd(event.fd) };
            let response = libc::fanotify_response { fd: event.fd, response: libc::FAN_ALLOW };
            // SAFETY: a response that lives.
            unsafe { libc::write(group.as_raw_fd(), (&raw const response).cast(), size_of_val(&response)) };
        }
    }
}

const ROUNDS: usize = 20;

/// Reads a file by its name, opens it, and reads again.
fn use_file(path: &Path) {
    run(async {
        for _ in 0..ROUNDS {
            assert_eq!(fs::read(path).await.unwrap(), b"contents");
            let mut file = File::open(path).await.unwrap();
            assert_eq!(file.read(&mut [0; 16]).await.unwrap(), 8);
        }
    });
}

/// Runs `test` in a process of its own with a file in a folder, if fanotify is there.
fn with_file(name: &str, test: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    if let Err(error) = group(folder.path()) {
        return skip("fanotify", &error.to_string());
    }
    if inside(name, |program| Command::new(program)) {
        let path = folder.path().join("file");
        std::fs::write(&path, "contents").unwrap();
        test(&path);
    }
}

/// Otherwise a thread that answers, too, would wait for itself.
#[test]
fn a_thread_of_a_process_that_is_asked_does_not_wait() {
    with_file("asked::a_thread_of_a_process_that_is_asked_does_not_wait", |path| {
        let group = group(path.parent().unwrap()).unwrap();
        let (sender, asked) = mpsc::channel();
        thread::spawn(move || answer(&group, |thread| sender.send(thread).unwrap()));
        use_file(path);
        let asked: Vec<_> = asked.try_iter().collect();
        assert!(asked.len() >= 4 * ROUNDS, "{}", asked.len());
        assert!(!asked.contains(&gettid().as_raw_nonzero().get()));
    });
}

/// As a virus scanner that runs already, or that is started later.
#[test]
fn threads_hardly_wait_for_another_process() {
    with_file("asked::threads_hardly_wait_for_another_process", |path| {
        for is_late in [false, true] {
            if is_late {
                // Elsewhere, so that nobody is asked.
                let other = tempfile::tempdir().unwrap();
                std::fs::write(other.path().join("file"), "contents").unwrap();
                (0..10).for_each(|_| use_file(&other.path().join("file")));
            }
            let (mut reader, mut writer) = io::pipe().unwrap();
            // SAFETY: the child makes system calls until it is killed.
            let child = unsafe { libc::fork() };
            if child == 0 {
                let group = group(path.parent().unwrap()).unwrap();
                writer.write_all(&[0; 4]).unwrap();
                answer(&group, |thread| writer.write_all(&thread.to_ne_bytes()).unwrap());
            }
            drop(writer);
            reader.read_exact(&mut [0; 4]).unwrap();
            use_file(path);
            // SAFETY: the child made above.
            unsafe {
                libc::kill(child, libc::SIGKILL);
                libc::waitpid(child, std::ptr::null_mut(), 0);
            }
            let mut asked = Vec::new();
            reader.read_to_end(&mut asked).unwrap();
            let own = gettid().as_raw_nonzero().get().to_ne_bytes();
            let here = asked.chunks(4).filter(|thread| *thread == own).count();
            assert!(asked.len() / 4 >= 4 * ROUNDS, "{}", asked.len());
            assert!(here <= if is_late { 10 } else { 0 }, "{here}");
        }
    });
}
