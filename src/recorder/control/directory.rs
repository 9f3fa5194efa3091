//! Where control sockets are: one folder for each user, that nobody else can enter.
//!
//! The folder is `dyntrace` in `$XDG_RUNTIME_DIR` if that is the user's own, else `/tmp/dyntrace-UID`. It is opened once, checked, and
//! from then on used by its descriptor, so that nobody can put another in its place between check and use. That also keeps the paths
//! of sockets, which may have 107 bytes, short.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, fstat, mkdirat, openat, unlinkat};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};
use rustix::process::{Pid, geteuid, test_kill_process};

use super::error::ControlError;

/// The folder for the control sockets of one user.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    fd: OwnedFd,
}

impl Directory {
    /// The path of the folder of user `uid`, as seen by a process that has `runtime_directory` in its environment and `root` as its root.
    pub(super) fn path_for(uid: u32, runtime_directory: Option<&OsStr>, root: &Path) -> PathBuf {
        let below_root = |path: &Path| root.join(path.strip_prefix("/").unwrap_or(path));
        runtime_directory
            .map(Path::new)
            .filter(|path| path.is_absolute())
            .map(below_root)
            // A program that another user started by su or sudo may still have that user's.
            .filter(|path| path.metadata().is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == uid))
            .map_or_else(|| below_root(Path::new(&format!("/tmp/dyntrace-{uid}"))), |path| path.join("dyntrace"))
    }

    /// The folder of this process, made if it is not there.
    pub(super) fn own() -> Result<Directory, ControlError> {
        let uid = geteuid().as_raw();
        let path = Directory::path_for(uid, std::env::var_os("XDG_RUNTIME_DIR").as_deref(), Path::new("/"));
        Directory::create(path)
    }

    /// The folder at `path`, made if it is not there.
    pub(super) fn create(path: PathBuf) -> Result<Directory, ControlError> {
        match mkdirat(CWD, &path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => Directory::open(path, geteuid().as_raw()),
            Err(error) => {
                Err(ControlError::system(format!("make the folder for control sockets, {path:?}"))(error.into()))
            }
        }
    }

    /// The folder at `path`, if it is user `uid`'s and nobody else's.
    pub(super) fn open(path: PathBuf, uid: u32) -> Result<Directory, ControlError> {
        let distrust = |path: &Path, why| Err(ControlError::Folder { folder: path.to_owned(), why });
        let fd = match openat(
            CWD,
            &path,
            OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY,
            Mode::empty(),
        ) {
            Ok(fd) => fd,
            Err(Errno::LOOP | Errno::NOTDIR) => {
                return distrust(
                    &path,
                    "is a file or a symbolic link that somebody has put there: remove it, or set XDG_RUNTIME_DIR",
                );
            }
            Err(error) => {
                return Err(ControlError::system(format!("open the folder for control sockets, {path:?}"))(
                    error.into(),
                ));
            }
        };
        let stat = fstat(&fd).map_err(|error| ControlError::system(format!("check {path:?}"))(error.into()))?;
        if stat.st_uid != uid {
            return distrust(
                &path,
                "belongs to another user: have it removed, or set XDG_RUNTIME_DIR to a folder of your own",
            );
        }
        if stat.st_mode & 0o077 != 0 {
            return distrust(&path, "is open to other users: make it private with chmod 700");
        }
        Ok(Directory { path, fd })
    }

    /// A listening socket for process `pid`. One that a dead process with this number left is replaced.
    pub(super) fn listen(&self, pid: u32) -> Result<UnixListener, ControlError> {
        let name = name(pid);
        let shown = self.path.join(&name);
        match self.connect(pid) {
            Ok(_) => return Err(ControlError::Taken(shown)),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => self.remove(&name),
            Err(_) => {}
        }
        let listener = UnixListener::bind(self.by_descriptor(&name));
        listener.map_err(ControlError::system(format!("make the control socket {shown:?}")))
    }

    /// A connection to the socket of process `pid`. Does not wait: for a process that accepts none it fails with `WouldBlock`.
    pub(super) fn connect(&self, pid: u32) -> io::Result<UnixStream> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        rustix::net::connect(&socket, &SocketAddrUnix::new(self.by_descriptor(&name(pid)))?)?;
        let stream = UnixStream::from(socket);
        stream.set_nonblocking(false)?;
        Ok(stream)
    }

    /// The processes that have a socket, dead ones too.
    pub(super) fn processes(&self) -> io::Result<Vec<u32>> {
        let mut pids: Vec<u32> = Dir::read_from(&self.fd)?
            .filter_map(Result::ok)
            .filter_map(|entry| entry.file_name().to_str().ok()?.strip_suffix(".sock")?.parse().ok())
            .collect();
        pids.sort_unstable();
        Ok(pids)
    }

    /// Removes the sockets of processes that are dead: not there, and not listening from another namespace of process ids either.
    pub(super) fn remove_stale(&self) {
        for pid in self.processes().unwrap_or_default() {
            if !is_alive(pid) && self.connect(pid).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
            {
                self.remove(&name(pid));
            }
        }
    }

    fn remove(&self, name: &str) {
        // One that cannot be removed is in the way of nobody but the next process with its number, which says so.
        let _ = unlinkat(&self.fd, name, AtFlags::empty());
    }

    fn by_descriptor(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.fd.as_raw_fd()))
    }
}

fn name(pid: u32) -> String {
    format!("{pid}.sock")
}

fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

/// The value of `name` in an environment as /proc shows it.
pub(super) fn variable<'a>(environment: &'a [u8], name: &str) -> Option<&'a OsStr> {
    let value = |entry: &'a [u8]| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=");
    environment.split(|&byte| byte == 0).find_map(value).map(OsStr::from_bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn refusal(path: &Path) -> String {
        Directory::create(path.to_owned()).unwrap_err().to_string()
    }

    #[test]
    fn a_new_folder_is_private() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("dyntrace");
        Directory::create(path.clone()).unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o700);
        Directory::create(path).unwrap();
    }

    #[test]
    fn a_planted_symlink_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("target");
        fs::create_dir(&target).unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o700)).unwrap();
        let path = place.path().join("dyntrace");
        symlink(&target, &path).unwrap();
        assert!(refusal(&path).contains("symbolic link"), "{}", refusal(&path));
        fs::remove_file(&path).unwrap();
        fs::write(&path, "").unwrap();
        assert!(refusal(&path).contains("is a file"), "{}", refusal(&path));
    }

    #[test]
    fn a_folder_of_others_or_open_to_them_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("dyntrace");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
        assert!(refusal(&path).contains("chmod 700"), "{}", refusal(&path));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        let other = Directory::open(path, geteuid().as_raw() + 1).unwrap_err().to_string();
        assert!(other.contains("belongs to another user"), "{other}");
    }

    #[test]
    fn a_folder_that_cannot_be_made() {
        assert!(refusal(Path::new("/proc/dyntrace")).contains("cannot make the folder"));
    }

    #[test]
    fn the_runtime_folder_only_if_it_is_the_users_own() {
        let place = tempfile::tempdir().unwrap();
        let uid = geteuid().as_raw();
        let root = Path::new("/");
        let own = Some(place.path().as_os_str());
        assert_eq!(Directory::path_for(uid, own, root), place.path().join("dyntrace"));
        for (uid, folder) in
            [(uid + 1, own), (uid, None), (uid, Some(OsStr::new("relative"))), (uid, Some(OsStr::new("/no/such")))]
        {
            assert_eq!(Directory::path_for(uid, folder, root), PathBuf::from(format!("/tmp/dyntrace-{uid}")));
        }
        assert_eq!(Directory::path_for(7, None, Path::new("/proc/1/root")), Path::new("/proc/1/root/tmp/dyntrace-7"));
    }

    #[test]
    fn sockets_of_dead_processes_go_and_those_of_others_stay() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::create(place.path().join("dyntrace")).unwrap();
        // No process has these numbers: the kernel's largest is 4194304.
        let (dead, elsewhere) = (5_000_001, 5_000_002);
        drop(directory.listen(dead).unwrap());
        let _listens = directory.listen(elsewhere).unwrap();
        let own = std::process::id();
        drop(directory.listen(own).unwrap());
        assert_eq!(directory.processes().unwrap().len(), 3);
        directory.remove_stale();
        let mut left = vec![own, elsewhere];
        left.sort_unstable();
        assert_eq!(directory.processes().unwrap(), left);
        drop(directory.listen(own).expect("one left by an earlier process of this number is replaced"));
        assert!(matches!(directory.listen(elsewhere), Err(ControlError::Taken(_))));
    }

    #[test]
    fn a_variable_of_another_process() {
        let environment = b"A=1\0XDG_RUNTIME_DIR=/run/user/7\0B=\0";
        assert_eq!(variable(environment, "XDG_RUNTIME_DIR"), Some(OsStr::new("/run/user/7")));
        assert_eq!(variable(environment, "B"), Some(OsStr::new("")));
        assert_eq!(variable(environment, "XDG"), None);
    }
}
