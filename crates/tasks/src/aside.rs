//! Opens files that the program, or its debug information, names. A process of its own does it: a server that never answers (of FUSE, NFS
//! and the like) holds up that process, which is left behind, and not the reader. A process that waits for such a server cannot be killed.
//!
//! The reader gets files of other file systems by descriptor. Those of a server it gets as copies: its own reads could wait as well.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use memmap2::{Mmap, MmapMut};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::error::Error;
use crate::mapped;
use crate::memory::word_at;

/// How long a server may take to answer, or to deliver the next bytes.
const PATIENCE: Duration = Duration::from_secs(2);

/// Processes that are left behind, at most. Afterwards no file is opened.
const LEFT_BEHIND: u32 = 3;

/// Bytes of a path with its end, at most: the kernel's limit.
const PATH: usize = 4096;

/// Bytes copied at once.
const CHUNK: usize = 64 << 10;

const TOO_LARGE: &str =
    "a server has it, and the files of the program that must be copied have too many bytes; copy it yourself";

/// File systems whose files are read without a server, by their magic numbers. The files of an overlay may lie on another one, but
/// programs in containers would have to be copied otherwise.
const LOCAL: [u32; 16] = [
    0x0000_ef53, // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683e, // Btrfs
    0x0102_1994, // tmpfs
    0x794c_7630, // overlay
    0x2fc1_2fc1, // ZFS
    0xca45_1a4e, // bcachefs
    0xf2f5_2010, // F2FS
    0xe0f5_e1e2, // EROFS
    0x7371_7368, // SquashFS
    0x8584_58f6, // ramfs
    0x0000_4d44, // FAT
    0x2011_bab0, // exFAT
    0x7366_746e, // NTFS
    0x0000_9660, // ISO 9660
    0x5265_4973, // ReiserFS
];

/// Facts about a file, as its file system tells them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Of its owner.
    pub uid: u32,
    /// Its type and its permissions.
    pub mode: u32,
    /// The number of its file system's device.
    pub device: u64,
    /// Its number in that.
    pub inode: u64,
    /// In bytes.
    pub length: u64,
}

/// A regular file.
#[derive(Debug)]
pub enum Opened {
    /// A file that needs no server.
    File(File),
    /// The bytes of a file that a server has.
    Copy(Mmap),
}

impl Opened {
    /// Returns the bytes of a file that the program has mapped, as [`mapped::read`] does.
    pub(crate) fn read(self, path: &Path, what: &'static str, room: &Cell<u64>) -> Result<Arc<Mmap>, Error> {
        match self {
            Opened::File(file) => mapped::read(&file, path, what, room),
            Opened::Copy(copy) => Ok(Arc::new(copy)),
        }
    }

    /// Fills `bytes` from the file's beginning. Returns whether it is long enough.
    pub(crate) fn begins(&self, bytes: &mut [u8]) -> bool {
        match self {
            Opened::File(file) => file.read_exact_at(bytes, 0).is_ok(),
            Opened::Copy(copy) => copy.get(..bytes.len()).is_some_and(|begin| {
                bytes.copy_from_slice(begin);
                true
            }),
        }
    }
}

/// Opens files by a process that it starts for the first one.
#[derive(Debug)]
pub struct Opener {
    patience: Duration,
    process: RefCell<Option<Other>>,
    left_behind: Cell<u32>,
}

#[derive(Debug)]
struct Other {
    pid: libc::pid_t,
    socket: UnixStream,
}

impl Default for Opener {
    fn default() -> Opener {
        Opener::with_patience(PATIENCE)
    }
}

impl Opener {
    /// Returns an opener that waits for `patience` for each answer, and for each piece of a copy.
    #[must_use]
    pub fn with_patience(patience: Duration) -> Opener {
        Opener { patience, process: RefCell::default(), left_behind: Cell::default() }
    }

    /// Opens a regular file if `allowed` accepts it. Takes the length of a copy from `room`.
    ///
    /// The path may be the program's choice: to open a pipe would wait for its other end, and to open some devices has effects. A path
    /// below `/proc/self` is that of the other process.
    ///
    /// # Errors
    ///
    /// The kernel's; `InvalidInput` for anything but a regular file; `TimedOut` if a server does not answer; `FileTooLarge` if `room` is
    /// less than the length of a copy.
    pub fn open(
        &self,
        path: &Path,
        room: &Cell<u64>,
        allowed: impl FnOnce(&Facts) -> io::Result<()>,
    ) -> io::Result<(Facts, Opened)> {
        if self.left_behind.get() >= LEFT_BEHIND {
            return Err(io::Error::new(ErrorKind::TimedOut, "it was not opened: servers of other files do not answer"));
        }
        let path = CString::new(path.as_os_str().as_bytes())?;
        let mut process = self.process.borrow_mut();
        if process.is_none() {
            *process = Some(Other::start(self.patience)?);
        }
        let Some(other) = process.as_mut() else { return Err(ErrorKind::NotFound.into()) };
        let opened = other.open(&path, room, allowed);
        match opened {
            Ok(opened) => opened,
            Err(error) => {
                if let Some(other) = process.take() {
                    other.leave_behind();
                    self.left_behind.set(self.left_behind.get() + 1);
                }
                Err(match error.kind() {
                    ErrorKind::WouldBlock => {
                        io::Error::new(ErrorKind::TimedOut, "the server of its file system does not answer")
                    }
                    _ => error,
                })
            }
        }
    }
}

impl Drop for Opener {
    fn drop(&mut self) {
        if let Some(other) = self.process.borrow_mut().take() {
            other.end();
        }
    }
}

impl Other {
    fn start(patience: Duration) -> io::Result<Other> {
        let (socket, end) = UnixStream::pair()?;
        socket.set_read_timeout(Some(patience))?;
        // SAFETY: the new process calls only functions that may be called in the child of a process with threads.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => serve(end.as_raw_fd()),
            pid => Ok(Other { pid, socket }),
        }
    }

    /// Returns the answer, or an error if the process does not answer.
    fn open(
        &mut self,
        path: &CStr,
        room: &Cell<u64>,
        allowed: impl FnOnce(&Facts) -> io::Result<()>,
    ) -> io::Result<io::Result<(Facts, Opened)>> {
        let answer = self.ask(path)?.and_then(|answer| allowed(&answer.facts).map(|()| answer));
        let opened = match answer {
            Err(error) => Err(error),
            Ok(Answer { is_local: true, facts }) => self.descriptor().map(|file| (facts, Opened::File(file))),
            Ok(Answer { facts, .. }) => match room.get().checked_sub(facts.length) {
                None => Err(io::Error::new(ErrorKind::FileTooLarge, TOO_LARGE)),
                Some(left) => {
                    room.set(left);
                    self.socket.write_all(&[1])?;
                    return Ok(Ok((facts, Opened::Copy(self.copy(facts.length)?))));
                }
            },
        };
        self.socket.write_all(&[0])?;
        Ok(opened)
    }

    /// Returns the kernel's answer, or an error if the process gives none.
    fn ask(&mut self, path: &CStr) -> io::Result<io::Result<Answer>> {
        let mut request = [0; PATH];
        let path = path.to_bytes_with_nul();
        let Some(place) = request.get_mut(..path.len()) else { return Ok(Err(ErrorKind::InvalidFilename.into())) };
        place.copy_from_slice(path);
        self.socket.write_all(&request)?;
        let mut answer = [0; WORDS * 8];
        self.socket.read_exact(&mut answer)?;
        Ok(Answer::of(std::array::from_fn(|word| word_at(&answer, word * 8).unwrap_or_default())))
    }

    /// Opens the file by the descriptor of the process.
    fn descriptor(&self) -> io::Result<File> {
        let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
        File::options().read(true).custom_flags(flags).open(format!("/proc/{}/fd/{FILE}", self.pid))
    }

    fn copy(&mut self, length: u64) -> io::Result<Mmap> {
        let length = usize::try_from(length).map_err(|_| ErrorKind::FileTooLarge)?;
        let mut copy = MmapMut::map_anon(length.max(1))?;
        self.socket.read_exact(&mut copy[..length])?;
        copy.make_read_only()
    }

    fn leave_behind(self) {
        let mut status = 0;
        // SAFETY: the process is a child that was not waited for, so no other has its id. `status` is valid for the call.
        unsafe {
            libc::kill(self.pid, libc::SIGKILL);
            libc::waitpid(self.pid, &raw mut status, libc::WNOHANG);
        }
    }

    /// Ends the process, which waits for a request.
    fn end(self) {
        let Other { pid, socket } = self;
        drop(socket);
        let mut status = 0;
        // SAFETY: `status` is valid for the call.
        unsafe { libc::waitpid(pid, &raw mut status, 0) };
    }
}

/// The other process's descriptors. The file gets the lowest one that is free.
const SOCKET: i32 = 0;
const FILE: i32 = 1;

/// Words of an answer.
const WORDS: usize = 8;

#[derive(Debug, PartialEq, Eq)]
struct Answer {
    is_local: bool,
    facts: Facts,
}

impl Answer {
    /// Opens `path` without waiting for the other end of a pipe, and without effects on a device.
    fn open(path: &CStr) -> Result<(OwnedFd, Answer), Errno> {
        let file = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let facts = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
            return Err(NOT_REGULAR);
        }
        // A file system that is not told, as a filter of system calls may refuse it, may have a server.
        let is_local = rustix::fs::fstatfs(&file).is_ok_and(|told| LOCAL.contains(&(told.f_type as u32)));
        let facts = Facts {
            uid: facts.st_uid,
            mode: facts.st_mode,
            device: facts.st_dev,
            inode: facts.st_ino,
            length: facts.st_size as u64,
        };
        Ok((file, Answer { is_local, facts }))
    }

    fn words(&self) -> [u64; WORDS] {
        let Facts { uid, mode, device, inode, length } = self.facts;
        [0, self.is_local.into(), uid.into(), mode.into(), device, inode, length, 0]
    }

    fn of([error, is_local, uid, mode, device, inode, length, _]: [u64; WORDS]) -> io::Result<Answer> {
        match error as i32 {
            0 => {
                let facts = Facts { uid: uid as u32, mode: mode as u32, device, inode, length };
                Ok(Answer { is_local: is_local != 0, facts })
            }
            error if error == NOT_REGULAR.raw_os_error() => {
                Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"))
            }
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}

/// An answer that the kernel does not give here.
const NOT_REGULAR: Errno = Errno::NOTBLK;

/// Answers requests until the reader's end of the socket is closed. Allocates nothing and takes no lock: a thread of the reader may have
/// had it when the process was made.
fn serve(socket: i32) -> ! {
    // SAFETY: these are calls of the kernel. No other code of this process uses its descriptors, and it ends in this function.
    unsafe {
        // A terminal's signals are the reader's, and so are its descriptors: somebody may wait until they are closed.
        libc::setsid();
        libc::dup2(socket, SOCKET);
        if libc::syscall(libc::SYS_close_range, FILE, libc::c_uint::MAX, 0) != 0 {
            for descriptor in FILE..1 << 16 {
                libc::close(descriptor);
            }
        }
        let mut socket = UnixStream::from_raw_fd(SOCKET);
        while answer(&mut socket).is_ok() {}
        libc::_exit(0)
    }
}

/// Reads and answers a request.
fn answer(socket: &mut UnixStream) -> io::Result<()> {
    let mut path = [0; PATH];
    socket.read_exact(&mut path)?;
    let opened = CStr::from_bytes_until_nul(&path).map_err(|_| Errno::INVAL).and_then(Answer::open);
    let words = match &opened {
        Ok((_, answer)) => answer.words(),
        Err(error) => [error.raw_os_error() as u64, 0, 0, 0, 0, 0, 0, 0],
    };
    for word in words {
        socket.write_all(&word.to_ne_bytes())?;
    }
    // Whether the reader wants a copy.
    let mut wanted = [0];
    socket.read_exact(&mut wanted)?;
    let Ok((_file, Answer { facts, .. })) = opened else { return Ok(()) };
    if wanted == [1] { copy(facts.length, socket) } else { Ok(()) }
}

fn copy(length: u64, socket: &mut UnixStream) -> io::Result<()> {
    let file = rustix::fs::open(c"/proc/self/fd/1", OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY, Mode::empty())?;
    let mut buffer = [0; CHUNK];
    let mut at = 0;
    while at < length {
        let chunk = (length - at).min(CHUNK as u64) as usize;
        let read = rustix::io::pread(&file, &mut buffer[..chunk], at)?;
        if read == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        socket.write_all(&buffer[..read])?;
        at += read as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_opened_by_another_process() {
        let folder = tempfile::tempdir().unwrap();
        let opener = Opener::default();
        let open = |path: &Path| opener.open(path, &Cell::new(1 << 20), |_| Ok(()));
        let path = folder.path().join("file");
        std::fs::write(&path, "program").unwrap();
        let (facts, _) = open(&path).unwrap();
        assert_eq!((facts.length, facts.uid), (7, rustix::process::geteuid().as_raw()));
        // Also after a file that is not opened.
        for path in [folder.path(), Path::new("/dev/null"), &folder.path().join("absent"), Path::new("")] {
            open(path).unwrap_err();
        }
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::RUSR).unwrap();
        assert!(open(&pipe).unwrap_err().to_string().contains("not a regular file"));
        let refused = opener.open(&path, &Cell::new(0), |_| Err(ErrorKind::PermissionDenied.into()));
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::PermissionDenied);
        // The files of /proc have a server of their own in this list.
        let (_, opened) = open(Path::new("/proc/self/status")).unwrap();
        assert!(matches!(opened, Opened::Copy(_)));
        let (_, opened) = open(&path).unwrap();
        let mut begin = [0; 4];
        assert!(opened.begins(&mut begin));
        assert_eq!(&begin, b"prog");
        assert!(!opened.begins(&mut [0; 8]));
        assert_eq!(opener.left_behind.get(), 0);
    }

    #[test]
    fn a_file_system_that_is_not_told_may_have_a_server() {
        let look = || {
            if let Err(error) = crate::filtered::refuse(&[libc::SYS_fstatfs, libc::SYS_statfs], libc::ENOSYS) {
                eprintln!("left out: calls cannot be filtered here: {error}");
                return;
            }
            let path = std::env::current_exe().unwrap();
            let (_, opened) = Opener::default().open(&path, &Cell::new(u64::MAX), |_| Ok(())).unwrap();
            assert!(matches!(opened, Opened::Copy(_)));
        };
        std::thread::spawn(look).join().unwrap();
    }
}
