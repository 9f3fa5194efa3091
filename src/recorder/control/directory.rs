//! The folder of control sockets: one for each user, which only that user can enter.
//!
//! It is `dyntrace` in `$XDG_RUNTIME_DIR` if that belongs to the user, else `/tmp/dyntrace-UID`. It is used by descriptor
//! (`dyntrace_folders`), which also keeps the paths of sockets below their limit of 107 bytes.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use dyntrace_folders::{Distrust, Folder};
use rustix::fs::{AtFlags, statat};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};
use rustix::process::{Pid, geteuid, test_kill_process};

use super::error::ControlError;
use super::peer::peer;
use dyntrace_processes::environment;

/// How often a socket is made that other processes take away before they can see that it is served.
const ATTEMPTS: usize = 8;

/// The folder for the control sockets of one user.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) folder: Folder,
}

impl Directory {
    /// The path of the folder of user `uid`, as seen by a process that has `runtime_directory` in its environment and `root` as its root.
    pub(super) fn path_for(uid: u32, runtime_directory: Option<&OsStr>, root: &Path) -> PathBuf {
        let below_root = |path: &Path| root.join(path.strip_prefix("/").unwrap_or(path));
        runtime_directory
            .map(Path::new)
            .filter(|path| path.is_absolute())
            .map(below_root)
            // A program started by su or sudo may have the variable of another user.
            .filter(|path| path.metadata().is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == uid))
            .map_or_else(|| below_root(Path::new(&format!("/tmp/dyntrace-{uid}"))), |path| path.join("dyntrace"))
    }

    /// Opens the folder of this process's user. Creates it if missing.
    pub(super) fn own() -> Result<Directory, ControlError> {
        let uid = geteuid().as_raw();
        let path = Directory::path_for(uid, environment::var("XDG_RUNTIME_DIR").as_deref(), Path::new("/"));
        Directory::create(path)
    }

    /// Opens the folder at `path`. Creates it if missing.
    pub(super) fn create(path: PathBuf) -> Result<Directory, ControlError> {
        let folder = Folder::make_private(&path);
        folder.map(|folder| Directory { folder }).map_err(refusal("create", path))
    }

    /// Opens the folder at `path`, if only user `uid` can enter it.
    pub(super) fn open(path: PathBuf, uid: u32) -> Result<Directory, ControlError> {
        let folder = Folder::private_of(&path, uid);
        folder.map(|folder| Directory { folder }).map_err(refusal("open", path))
    }

    /// Creates a listening socket for process `pid`, and returns it with the inode of its file. Replaces one left by a dead process with
    /// this number.
    ///
    /// It is bound by its path if that is short enough. Programs that remove old files, such as systemd-tmpfiles, spare sockets whose paths
    /// they find in `/proc/net/unix`. They also spare folders that are locked, as this one is from now on.
    pub(super) fn listen(&self, pid: u32) -> Result<(UnixListener, u64), ControlError> {
        let name = name(pid);
        let shown = self.folder.path().join(&name);
        self.folder.mark_used();
        // The path may lead to another folder by now: then this one does not have the socket.
        let bind = |path: &Path| {
            let listener = UnixListener::bind(path)?;
            self.served_by_this_process(pid).map(|inode| (listener, inode))
        };
        let mut refused = None;
        for _ in 0..ATTEMPTS {
            if !self.remove_unless(pid, Result::is_ok) {
                return Err(ControlError::Taken(shown));
            }
            match bind(&shown).or_else(|_| bind(&self.by_descriptor(&name))) {
                Ok(bound) => return Ok(bound),
                Err(error) => refused = Some(error),
            }
        }
        let refused = refused.unwrap_or_else(|| Errno::NOENT.into());
        Err(ControlError::system(format!("create the control socket {shown:?}"))(refused))
    }

    /// The inode of the socket of process `pid`, if this process serves it: another one may have removed or replaced it before it listened.
    fn served_by_this_process(&self, pid: u32) -> io::Result<u64> {
        let is_own = match self.connect(pid) {
            Ok(stream) => peer(stream)?.pid == std::process::id(),
            // Others tell nothing of the socket.
            Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused),
        };
        self.inode(pid).filter(|_| is_own).ok_or_else(|| Errno::NOENT.into())
    }

    /// The inode of the socket of process `pid`; `None` if there is no such file.
    pub(super) fn inode(&self, pid: u32) -> Option<u64> {
        statat(&self.folder, name(pid), AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| stat.st_ino)
    }

    /// Connects to the socket of process `pid`. Does not block: fails with `WouldBlock` if the process accepts no connection.
    pub(super) fn connect(&self, pid: u32) -> io::Result<UnixStream> {
        self.connect_to(&name(pid))
    }

    fn connect_to(&self, name: &str) -> io::Result<UnixStream> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        rustix::net::connect(&socket, &SocketAddrUnix::new(self.by_descriptor(name))?)?;
        Ok(socket.into())
    }

    /// The processes that have a socket, including dead ones.
    pub(super) fn processes(&self) -> io::Result<Vec<u32>> {
        let names = self.folder.names()?;
        let mut pids: Vec<u32> =
            names.iter().filter_map(|name| name.to_str()?.strip_suffix(".sock")?.parse().ok()).collect();
        pids.sort_unstable();
        Ok(pids)
    }

    /// Removes the sockets of processes that have ended, unless a process in another pid namespace listens. Costs a system call for each
    /// socket, and a connection for each missing process.
    pub(super) fn remove_stale(&self) {
        for pid in self.processes().unwrap_or_default() {
            if is_alive(pid) {
                continue;
            }
            self.remove_unless(pid, |connected| match connected {
                Err(error) => error.kind() != io::ErrorKind::ConnectionRefused,
                // A forked child has the socket of its parent, and does not serve it.
                Ok(stream) => !peer(stream).is_ok_and(|peer| peer.pid == pid),
            });
        }
    }

    /// Removes the socket of process `pid` unless it is in use, by the outcome of a connection. Returns whether it is not in use.
    ///
    /// The process may have bound it and not listen yet. So the socket loses its name first and is tried again: a process that listens
    /// later looks for its socket, and makes another one.
    fn remove_unless(&self, pid: u32, is_used: impl Fn(&io::Result<UnixStream>) -> bool) -> bool {
        let name = name(pid);
        if is_used(&self.connect(pid)) {
            return false;
        }
        let aside = format!(".{}-{pid}.stale", std::process::id());
        if self.folder.rename(&name, &aside).is_err() {
            // It is gone, or stays in the way of a new one, whose error tells why.
            return true;
        }
        let is_back = is_used(&self.connect_to(&aside)) && self.folder.rename_new(&aside, &name).is_ok();
        if !is_back {
            // If it cannot be removed, it only takes space.
            let _ = self.folder.remove_file(&aside);
        }
        !is_back
    }

    fn by_descriptor(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.folder.as_fd().as_raw_fd()))
    }
}

/// The error for the folder at `path`, with the reason and the remedy.
fn refusal(doing: &str, path: PathBuf) -> impl FnOnce(io::Error) -> ControlError {
    move |error| {
        let why = match Distrust::of(&error) {
            Some(Distrust::NotAFolder(_) | Distrust::Link { .. }) => {
                "is a file or a symbolic link: remove it, or set XDG_RUNTIME_DIR"
            }
            Some(Distrust::Owner { .. }) => {
                "belongs to another user: have it removed, or set XDG_RUNTIME_DIR to a folder of your own"
            }
            Some(_) => "is open to other users: make it private with chmod 700",
            None => {
                return ControlError::system(format!("{doing} the folder for control sockets, {path:?}"))(error);
            }
        };
        ControlError::Folder { folder: path, why }
    }
}

fn name(pid: u32) -> String {
    format!("{pid}.sock")
}

pub(super) fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

/// The value of variable `name` in an environment as /proc shows it.
pub(super) fn variable<'a>(environment: &'a [u8], name: &str) -> Option<&'a OsStr> {
    let value = |entry: &'a [u8]| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=");
    environment.split(|&byte| byte == 0).find_map(value).map(OsStr::from_bytes)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, TryLockError};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    /// Ends `listener` as the end of its process would. A child that another test forks meanwhile has a copy of the descriptor, so
    /// closing it would leave the socket open.
    fn end(listener: UnixListener) {
        rustix::net::shutdown(listener, rustix::net::Shutdown::Both).unwrap();
    }

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
        assert!(refusal(Path::new("/proc/dyntrace")).contains("cannot create the folder"));
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
        end(directory.listen(dead).unwrap().0);
        let _listens = directory.listen(elsewhere).unwrap();
        let own = std::process::id();
        end(directory.listen(own).unwrap().0);
        assert_eq!(directory.processes().unwrap().len(), 3);
        directory.remove_stale();
        let mut left = vec![own, elsewhere];
        left.sort_unstable();
        assert_eq!(directory.processes().unwrap(), left);
        end(directory.listen(own).expect("one left by an earlier process of this number is replaced").0);
        assert!(matches!(directory.listen(elsewhere), Err(ControlError::Taken(_))));
    }

    /// By these, systemd-tmpfiles sees that a socket is in use.
    #[test]
    fn a_socket_has_its_name_in_the_kernel_and_its_folder_is_locked() {
        let place = tempfile::tempdir().unwrap();
        let own = std::process::id();
        // The second path is longer than a socket's may be.
        for (folder, is_named) in [("dyntrace".to_owned(), true), ("x".repeat(120), false)] {
            let directory = Directory::create(place.path().join(&folder)).unwrap();
            let (_listener, inode) = directory.listen(own).unwrap();
            assert_eq!(directory.inode(own), Some(inode));
            directory.connect(own).unwrap();
            let path = place.path().join(&folder).join(name(own));
            let named = fs::read_to_string("/proc/net/unix").unwrap();
            assert_eq!(named.contains(&format!(" {}\n", path.display())), is_named, "{named}");
            let other = File::open(place.path().join(&folder)).unwrap();
            assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
        }
    }

    /// Each look of the other process may fall between the socket's creation and the first call of `listen`.
    #[test]
    fn a_socket_that_does_not_listen_yet_is_not_lost_to_a_look_at_stale_ones() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::create(place.path().join("dyntrace")).unwrap();
        let has_ended = std::sync::atomic::AtomicBool::new(false);
        // No process has this number, as if it were of another pid namespace.
        let elsewhere = 5_000_001;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !has_ended.load(std::sync::atomic::Ordering::Relaxed) {
                    directory.remove_stale();
                }
            });
            for _ in 0..500 {
                let (listener, _) = directory.listen(elsewhere).unwrap();
                // Has no name while it is tried a second time.
                let is_there = (0..1000).any(|_| directory.connect(elsewhere).is_ok());
                end(listener);
                has_ended.fetch_or(!is_there, std::sync::atomic::Ordering::Relaxed);
                assert!(is_there);
            }
            has_ended.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    }

    /// The child has the descriptor, so connections would wait for ever.
    #[test]
    fn a_socket_that_only_a_forked_child_holds_goes() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::create(place.path().join("dyntrace")).unwrap();
        let (alive, child) = io::pipe().unwrap();
        // SAFETY: the child, which has one thread, and its own make a socket and wait; `_exit` runs nothing of this program.
        let parent = unsafe {
            let parent = libc::fork();
            if parent == 0 {
                drop(alive);
                let listener = directory.listen(std::process::id());
                if libc::fork() != 0 {
                    libc::_exit(i32::from(listener.is_err()));
                }
                // Until the test ends, which closes the other end of the pipe.
                let mut poll = libc::pollfd { fd: child.as_fd().as_raw_fd(), events: 0, revents: 0 };
                libc::poll(&raw mut poll, 1, 60_000);
                libc::_exit(0);
            }
            parent
        };
        drop(child);
        let mut status = 0;
        // SAFETY: the child made above, and a place for its status.
        assert_eq!(unsafe { libc::waitpid(parent, &raw mut status, 0) }, parent);
        assert_eq!(status, 0);
        let pid = parent.cast_unsigned();
        assert_eq!(directory.processes().unwrap(), [pid]);
        directory.connect(pid).expect("the grandchild has it");
        directory.remove_stale();
        assert!(directory.processes().unwrap().is_empty());
        drop(alive);
    }

    #[test]
    fn a_variable_of_another_process() {
        let environment = b"A=1\0XDG_RUNTIME_DIR=/run/user/7\0B=\0";
        assert_eq!(variable(environment, "XDG_RUNTIME_DIR"), Some(OsStr::new("/run/user/7")));
        assert_eq!(variable(environment, "B"), Some(OsStr::new("")));
        assert_eq!(variable(environment, "XDG"), None);
    }
}
