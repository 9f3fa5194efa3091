//! A request to the driver: a command and the arguments that `efile_drv-entry` shows.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;

use super::command::Command;

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
}
