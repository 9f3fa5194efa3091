//! A FUSE whose server stops answering, for tests.

use std::ffi::{CString, c_int};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Bytes of the only file.
pub const LENGTH: u64 = 1 << 20;

/// Longer than a test takes that does not wait for the server.
const LONGEST: Duration = Duration::from_secs(30);

/// A mounted file system with one file. Unmounted when it is dropped, which also ends all that wait for the server.
pub struct Server {
    folder: tempfile::TempDir,
    is_silent: Arc<AtomicBool>,
    _watched: mpsc::Sender<()>,
}

impl Server {
    /// `None` where the test may not mount.
    pub fn start() -> Option<Server> {
        let folder = tempfile::tempdir().unwrap();
        let place = CString::new(folder.path().as_os_str().as_bytes()).unwrap();
        let device = File::options().read(true).write(true).open("/dev/fuse").ok()?;
        let options = CString::new(format!("fd={},rootmode=40000,user_id=0,group_id=0", device.as_raw_fd())).unwrap();
        // SAFETY: the strings end with a zero and live until the kernel returns.
        let mounted =
            unsafe { libc::mount(c"silent".as_ptr(), place.as_ptr(), c"fuse".as_ptr(), 0, options.as_ptr().cast()) };
        if mounted != 0 {
            return None;
        }
        let is_silent = Arc::new(AtomicBool::new(false));
        let silent = Arc::clone(&is_silent);
        thread::spawn(move || serve(device, &silent));
        let (_watched, ends) = mpsc::channel::<()>();
        // Unmounts also if a reader waits for the server, which fails the test.
        thread::spawn(move || {
            let _ = ends.recv_timeout(LONGEST);
            // SAFETY: as above.
            unsafe { libc::umount2(place.as_ptr(), libc::MNT_FORCE | libc::MNT_DETACH) };
        });
        Some(Server { folder, is_silent, _watched })
    }

    pub fn file(&self) -> PathBuf {
        self.folder.path().join("file")
    }

    /// Answers nothing from now on.
    pub fn fall_silent(&self) {
        self.is_silent.store(true, SeqCst);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let place = CString::new(self.folder.path().as_os_str().as_bytes()).unwrap();
        // SAFETY: as above.
        unsafe { libc::umount2(place.as_ptr(), libc::MNT_FORCE | libc::MNT_DETACH) };
    }
}

/// Answers requests of the kernel's protocol 7.31 that a mapping needs, but for reads.
fn serve(mut device: File, is_silent: &AtomicBool) {
    let mut request = vec![0; 1 << 20];
    // It fails when the file system is unmounted.
    while let Ok(length) = device.read(&mut request) {
        let half = |at: usize| u32::from_ne_bytes(request[at..at + 4].try_into().unwrap());
        let word = |at: usize| u64::from_ne_bytes(request[at..at + 8].try_into().unwrap());
        let (code, unique, node) = (half(4), word(8), word(16));
        let (error, body): (c_int, Vec<u32>) = match code {
            _ if is_silent.load(SeqCst) => continue,
            // FORGET, READ, INTERRUPT, BATCH_FORGET
            2 | 15 | 36 | 42 => continue,
            // LOOKUP
            1 if &request[40..length] == b"file\0" => (0, [vec![2, 0, 0, 0, 0, 0, 0, 0, 0, 0], attributes(2)].concat()),
            1 => (-libc::ENOENT, vec![]),
            // GETATTR
            3 => (0, [vec![0, 0, 0, 0], attributes(node)].concat()),
            // OPEN
            14 => (0, vec![0; 4]),
            // STATFS
            17 => (0, vec![0; 20]),
            // RELEASE, FLUSH, ACCESS
            18 | 25 | 34 => (0, vec![]),
            // INIT
            26 => (0, [vec![7, 31, 0, 0, 0, 4096, 1], vec![0; 9]].concat()),
            _ => (-libc::ENOSYS, vec![]),
        };
        let mut answer: Vec<u8> = (16 + 4 * body.len() as u32).to_ne_bytes().to_vec();
        answer.extend(error.to_ne_bytes());
        answer.extend(unique.to_ne_bytes());
        answer.extend(body.iter().flat_map(|half| half.to_ne_bytes()));
        let _ = device.write(&answer);
    }
}

/// `struct fuse_attr`
fn attributes(node: u64) -> Vec<u32> {
    let (length, mode) = if node == 2 { (LENGTH as u32, 0o10_0755) } else { (0, 0o4_0755) };
    let times = [0; 9];
    [&[node as u32, 0, length, 0, 0, 0][..], &times, &[mode, 1, 0, 0, 0, 4096, 0]].concat()
}
