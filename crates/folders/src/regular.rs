//! Regular files, opened without waiting and without an effect on anything else that has their name.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::Errno;

/// Flags that wait neither for the writer of a pipe nor for a user that has a lease on the file.
const AT_ONCE: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Opens the regular file at `path` for reading. The path may be another user's choice: symbolic links are followed, as they only lead to
/// another file that this process can read.
///
/// ```
/// use std::io::ErrorKind;
///
/// use dyntrace_folders::open_regular;
///
/// let error = open_regular("/dev/tty".as_ref()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidInput);
/// ```
///
/// # Errors
///
/// The system's, such as [`WouldBlock`](io::ErrorKind::WouldBlock) for a file on which another process has a lease;
/// [`InvalidInput`](io::ErrorKind::InvalidInput) for anything but a regular file, which is not opened.
pub fn open_regular(path: &Path) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd as _;
        // Such a descriptor opens nothing. Its name in /proc leads to the file that was checked.
        let found = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        check(&fstat(&found)?)?;
        match openat(CWD, format!("/proc/self/fd/{}", found.as_raw_fd()), AT_ONCE, Mode::empty()) {
            // There is no /proc.
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            opened => return Ok(opened?.into()),
        }
    }
    check(&statat(CWD, path, AtFlags::empty())?)?;
    opened(openat(CWD, path, AT_ONCE, Mode::empty()))
}

/// Opens the regular file of this name in a folder. A symbolic link is none.
pub(crate) fn regular(folder: impl AsFd, name: &std::ffi::OsStr, access: OFlags) -> io::Result<File> {
    // Opening a device can have effects. If the name is replaced after the check, NONBLOCK opens most of them without effect.
    check(&statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?)?;
    opened(openat(&folder, name, access | OFlags::NOFOLLOW | AT_ONCE, Mode::empty()))
}

fn opened(file: rustix::io::Result<std::os::fd::OwnedFd>) -> io::Result<File> {
    let file = match file {
        Err(Errno::LOOP | Errno::MLINK | Errno::NXIO) => return Err(no_file()),
        other => other?,
    };
    check(&fstat(&file)?)?;
    Ok(file.into())
}

fn check(stat: &Stat) -> io::Result<()> {
    if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile { Ok(()) } else { Err(no_file()) }
}

fn no_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}
