//! A request to the driver: a command and the arguments that `efile_drv-entry` shows.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::command::Command;
use crate::aio_pool::Changes;

/// A command with its arguments.
///
/// It owns the file names, NUL-terminated, so that probes and the system take them as they are.
#[derive(Debug)]
pub(crate) struct Request {
    pub(super) command: Command,
    pub(super) s1: Option<Name>,
    pub(super) s2: Option<Name>,
    pub(super) i1: i64,
    pub(super) i2: i64,
    pub(super) i3: i64,
    pub(super) i4: i64,
    /// Atomic, so that futures with a request are `Sync`. One thread at a time has the request.
    moved: AtomicU64,
}

/// A file name, up to its first NUL.
#[derive(Debug)]
pub(super) struct Name {
    shown: CString,
    cut: bool,
}

impl Request {
    /// Makes a request without arguments: no strings, integers 0.
    pub(crate) fn new(command: Command) -> Request {
        Request { command, s1: None, s2: None, i1: 0, i2: 0, i3: 0, i4: 0, moved: AtomicU64::new(0) }
    }

    /// Sets the first name. Takes a reference so that the caller keeps its argument: in an `async fn` an argument that is not moved
    /// lives until the operation has ended, and dropping it earlier may remove the file.
    pub(crate) fn s1(self, path: &Path) -> Request {
        Request { s1: Some(Name::new(path)), ..self }
    }

    /// Sets the second name, as [`s1`](Request::s1) sets the first.
    pub(crate) fn s2(self, path: &Path) -> Request {
        Request { s2: Some(Name::new(path)), ..self }
    }

    pub(crate) fn i1(self, i1: i64) -> Request {
        Request { i1, ..self }
    }

    pub(crate) fn i2(self, i2: i64) -> Request {
        Request { i2, ..self }
    }

    pub(crate) fn i3(self, i3: i64) -> Request {
        Request { i3, ..self }
    }

    pub(crate) fn i4(self, i4: i64) -> Request {
        Request { i4, ..self }
    }

    /// Adds bytes of files that the operation has read, written or copied.
    pub(crate) fn add_moved(&self, bytes: u64) {
        self.moved.store(self.moved().saturating_add(bytes), Ordering::Relaxed);
    }

    /// Adds the bytes that a system call moved, and returns its result.
    pub(crate) fn moving<E>(&self, answer: Result<usize, E>) -> Result<usize, E> {
        answer.inspect(|bytes| self.add_moved(*bytes as u64))
    }

    /// Returns how many bytes the operation has moved.
    pub(super) fn moved(&self) -> u64 {
        self.moved.load(Ordering::Relaxed)
    }

    /// Returns which directories the operation changes.
    pub(super) fn changes(&self) -> Changes {
        use Command::{Delete, Link, Mkdir, Open, Rename, Rmdir, Symlink};
        let creates = || OFlags::from_bits_retain(self.i1 as _).contains(OFlags::CREATE);
        match (self.command, &self.s1, &self.s2) {
            (Rename, Some(old), Some(new)) => Changes::of_both(old.directory(), new.directory()),
            (Link | Symlink, _, Some(new)) => Changes::of(new.directory()),
            (Mkdir | Rmdir | Delete, Some(name), _) => Changes::of(name.directory()),
            (Open, Some(name), _) if creates() => Changes::of(name.directory()),
            _ => Changes::NONE,
        }
    }

    /// Returns the first name, or EINVAL if it holds a NUL: the system takes no such name.
    pub(crate) fn path(&self) -> io::Result<&Path> {
        Name::whole(&self.s1)
    }

    /// Returns the second name, as [`path`](Request::path) returns the first.
    pub(crate) fn second_path(&self) -> io::Result<&Path> {
        Name::whole(&self.s2)
    }
}

impl Name {
    fn new(path: &Path) -> Name {
        let bytes = path.as_os_str().as_bytes();
        match CString::new(bytes) {
            Ok(shown) => Name { shown, cut: false },
            Err(error) => {
                let shown = CString::new(&bytes[..error.nul_position()]).expect("the first NUL is behind it");
                Name { shown, cut: true }
            }
        }
    }

    fn whole(name: &Option<Name>) -> io::Result<&Path> {
        match name {
            Some(name) if !name.cut => Ok(Path::new(OsStr::from_bytes(name.shown.to_bytes()))),
            _ => Err(Errno::INVAL.into()),
        }
    }

    /// Returns the name up to its last slash; not normalised.
    fn directory(&self) -> &[u8] {
        let name = self.shown.to_bytes();
        let end = name.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
        &name[..end]
    }

    /// Returns the name as probes show it: cut at its first NUL.
    pub(super) fn shown(&self) -> &CStr {
        &self.shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_nul_is_shown_cut_and_refused() {
        let request = Request::new(Command::Rename).s1(Path::new("before\0after")).s2(Path::new("new\nname"));
        assert_eq!(request.s1.as_ref().unwrap().shown(), c"before");
        assert_eq!(request.path().unwrap_err().raw_os_error(), Some(Errno::INVAL.raw_os_error()));
        assert_eq!(request.second_path().unwrap(), Path::new("new\nname"));
    }

    #[test]
    fn a_name_keeps_every_byte_but_nul() {
        let bytes: Vec<u8> = (1..=255).collect();
        let request = Request::new(Command::Delete).s1(Path::new(OsStr::from_bytes(&bytes)));
        assert_eq!(request.path().unwrap().as_os_str().as_bytes(), bytes);
    }

    #[test]
    fn names_in_one_directory_change_the_same_one() {
        let of = |command, s1: &str, s2: &str| Request::new(command).s1(Path::new(s1)).s2(Path::new(s2)).changes();
        let within = Changes::of(b"/a/b");
        assert_eq!(of(Command::Mkdir, "/a/b/new", ""), within);
        assert_eq!(of(Command::Rename, "/a/b/1", "/c/2"), Changes::of_both(b"/a/b", b"/c"));
        assert_eq!(of(Command::Link, "/c/1", "/a/b/2"), within);
        assert_eq!(of(Command::Delete, "here", ""), Changes::of(b""));
        assert_eq!(of(Command::Lstat, "/a/b/1", ""), Changes::NONE);
        let open =
            |flags: OFlags| Request::new(Command::Open).s1(Path::new("/a/b/1")).i1(flags.bits().into()).changes();
        assert_eq!((open(OFlags::RDONLY), open(OFlags::WRONLY | OFlags::CREATE)), (Changes::NONE, within));
    }
}
