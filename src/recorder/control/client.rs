//! The client: controls another process.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::geteuid;

use super::directory::{Directory, variable};
use super::error::ControlError;
use super::peer::peer;
use super::protocol::{self, GREETING, Record, Reply, Request};

/// How long a process may take to greet.
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection to the control socket of a process. Sessions started over it end with it.
#[derive(Debug)]
pub struct Connection {
    pid: u32,
    stream: UnixStream,
    arrived: Vec<u8>,
    /// An answer that was not waited for may still come: no later one can be told from it.
    is_unusable: bool,
}

impl Connection {
    /// Connects to process `pid`: one of the same user, or any for root.
    ///
    /// # Errors
    ///
    /// [`ControlError`] if there is no such process, it has no control socket or one that cannot be trusted, it does not answer for five
    /// seconds, or it refuses.
    pub fn open(pid: u32) -> Result<Connection, ControlError> {
        let process = Process::find(pid)?;
        let stream = process.connect()?;
        let mut connection = Connection { pid, stream, arrived: Vec::new(), is_unusable: false };
        connection.wait_at_most(Some(PATIENCE))?;
        connection.exchange(GREETING)?;
        connection.wait_at_most(None)?;
        Ok(connection)
    }

    /// The processes of this user that have a control socket, by their numbers.
    ///
    /// # Errors
    ///
    /// [`ControlError`] if the folder of sockets cannot be read or trusted.
    pub fn processes() -> Result<Vec<u32>, ControlError> {
        let directory = Directory::own()?;
        directory.remove_stale();
        directory.processes().map_err(ControlError::system("list the control sockets"))
    }

    /// Sends a request and waits for the answer.
    ///
    /// # Errors
    ///
    /// [`ControlError::Refused`] if the process refuses; others if it has ended or its answer is invalid.
    pub fn request(&mut self, request: &Request) -> Result<Vec<Record>, ControlError> {
        self.exchange(&request.to_string())
    }

    /// Like [`request`](Connection::request), with a limit on the wait for each piece of the answer, as the process may be stopped.
    ///
    /// # Errors
    ///
    /// [`ControlError::Silent`] if it takes longer. The connection is unusable then: each later request has this error.
    pub fn request_within(&mut self, request: &Request, limit: Duration) -> Result<Vec<Record>, ControlError> {
        self.wait_at_most(Some(limit))?;
        let answer = self.request(request);
        self.is_unusable |= matches!(answer, Err(ControlError::Silent(_)));
        self.wait_at_most(None)?;
        answer
    }

    /// Waits for the next message of a trace.
    ///
    /// # Errors
    ///
    /// [`ControlError::System`] with [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) at the end; others if a message is invalid.
    pub fn hear(&mut self) -> Result<Vec<Record>, ControlError> {
        let pid = self.pid;
        let Reply(said) = self.receive()?.parse().map_err(|source| ControlError::Protocol { pid, source })?;
        said.map_err(|why| ControlError::Refused { pid, why })
    }

    /// Returns a handle by which another thread can end the trace.
    ///
    /// # Errors
    ///
    /// No descriptor is left.
    pub fn ender(&self) -> Result<Ender, ControlError> {
        let doing = format!("watch the connection to process {}", self.pid);
        self.stream.try_clone().map(Ender).map_err(ControlError::system(doing))
    }

    /// Whether the process has not closed the connection. Does not block.
    pub fn is_open(&self) -> bool {
        let mut byte = [0];
        let flags = rustix::net::RecvFlags::PEEK | rustix::net::RecvFlags::DONTWAIT;
        !matches!(rustix::net::recv(&self.stream, &mut byte, flags), Ok((_, 0)) | Err(rustix::io::Errno::CONNRESET))
    }

    fn exchange(&mut self, message: &str) -> Result<Vec<Record>, ControlError> {
        let pid = self.pid;
        if self.is_unusable {
            return Err(ControlError::Silent(pid));
        }
        let protocol = |source| ControlError::Protocol { pid, source };
        // If this fails, the process has closed the connection, perhaps after an answer that can still be read.
        let written = self.stream.write_all(&protocol::frame(message).map_err(protocol)?);
        match self.hear() {
            Err(ControlError::System { .. }) if written.is_err() => {
                written.map(|()| Vec::new()).map_err(ControlError::system(format!("talk to process {pid}")))
            }
            other => other,
        }
    }

    fn receive(&mut self) -> Result<String, ControlError> {
        let pid = self.pid;
        loop {
            if let Some(message) =
                protocol::take(&mut self.arrived).map_err(|source| ControlError::Protocol { pid, source })?
            {
                return Ok(message);
            }
            let mut piece = [0; 4096];
            match self.stream.read(&mut piece) {
                Ok(0) => {
                    let ended = io::Error::new(io::ErrorKind::UnexpectedEof, "it has closed the connection");
                    return Err(ControlError::system(format!("hear from process {pid}"))(ended));
                }
                Ok(length) => self.arrived.extend_from_slice(&piece[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(ControlError::Silent(pid)),
                Err(error) => return Err(ControlError::system(format!("hear from process {pid}"))(error)),
            }
        }
    }

    fn wait_at_most(&self, limit: Option<Duration>) -> Result<(), ControlError> {
        let set = self.stream.set_read_timeout(limit).and_then(|()| self.stream.set_write_timeout(limit));
        set.map_err(ControlError::system(format!("talk to process {}", self.pid)))
    }
}

/// Ends a trace over a connection.
#[derive(Debug)]
pub struct Ender(UnixStream);

impl Ender {
    /// Ends the trace. Its last messages can still be received.
    pub fn end(&self) {
        // It fails if the process has ended.
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

/// A process, as /proc shows it.
struct Process {
    pid: u32,
    /// Its effective user.
    uid: u32,
    /// Its number in its own pid namespace.
    own_number: u32,
    environment: Vec<u8>,
    /// Its root folder, by which other processes reach it.
    root: PathBuf,
}

impl Process {
    fn find(pid: u32) -> Result<Process, ControlError> {
        let proc = PathBuf::from(format!("/proc/{pid}"));
        let missing = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => ControlError::NoProcess(pid),
            _ => ControlError::system(format!("look at process {pid}"))(error),
        };
        let status = fs::read_to_string(proc.join("status")).map_err(missing)?;
        let own_number = own_number(&status).unwrap_or(pid);
        let uid = effective_user(&status)
            .map_or_else(|| proc.metadata().map(|metadata| metadata.uid()), Ok)
            .map_err(missing)?;
        let doing = format!("read the environment of process {pid}, which only its user and root can");
        let environment = fs::read(proc.join("environ")).map_err(ControlError::system(doing))?;
        Ok(Process { pid, uid, own_number, environment, root: proc.join("root") })
    }

    /// Connects to its control socket. It may have opened the socket before it gave up its user or its root: then the socket is in the
    /// folder of root or of this process's user, perhaps below this process's root.
    fn connect(&self) -> Result<UnixStream, ControlError> {
        let found = self.connect_in(self.uid, &self.root);
        if !matches!(found, Err(ControlError::NoControl(_))) {
            return found.map(|(stream, _)| stream);
        }
        let users = [self.uid, geteuid().as_raw(), 0];
        let earlier = [&*self.root, Path::new("/")].into_iter().flat_map(|root| users.map(|uid| (uid, root))).skip(1);
        // Folders that are missing or closed to this user are the rule here. Below another root, the number may be another process's.
        earlier
            .filter_map(|(uid, root)| self.connect_in(uid, root).ok())
            .find_map(|(stream, by)| (by == self.pid).then_some(stream))
            .ok_or(ControlError::NoControl(self.pid))
    }

    /// Connects to the socket in the folder of user `uid` below `root`. Also returns the number of the process that serves it, which is
    /// 0 if its pid namespace is not visible from here.
    fn connect_in(&self, uid: u32, root: &Path) -> Result<(UnixStream, u32), ControlError> {
        let pid = self.pid;
        let path = Directory::path_for(uid, variable(&self.environment, "XDG_RUNTIME_DIR"), root);
        let directory = match Directory::open(path, uid) {
            Err(ControlError::System { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ControlError::NoControl(pid));
            }
            other => other?,
        };
        let stream = match directory.connect(self.own_number) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ControlError::NoControl(pid)),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                // The socket of an earlier process with this number, which was killed. Only its own user's process leads to a removal.
                if uid == self.uid {
                    directory.remove(self.own_number);
                }
                return Err(ControlError::NoControl(pid));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(ControlError::Silent(pid)),
            other => other.map_err(ControlError::system(format!("connect to process {pid}")))?,
        };
        let peer = peer(&stream).map_err(ControlError::system(format!(
            "read the credentials of the process that serves the socket of process {pid}"
        )))?;
        if peer.uid != uid || (peer.pid != pid && peer.pid != 0) {
            return Err(ControlError::Impostor { pid, by: peer.pid, uid: peer.uid });
        }
        Ok((stream, peer.pid))
    }
}

fn own_number(status: &str) -> Option<u32> {
    status.lines().find_map(|line| line.strip_prefix("NSpid:"))?.split_whitespace().next_back()?.parse().ok()
}

fn effective_user(status: &str) -> Option<u32> {
    status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_as_proc_shows_it() {
        let status = "Name:\tx\nUid:\t1000\t1001\t1002\t1003\nNSpid:\t4711\t12\n";
        assert_eq!((own_number(status), effective_user(status)), (Some(12), Some(1001)));
        assert_eq!((own_number(""), effective_user("")), (None, None));
    }

    #[test]
    fn no_process() {
        let error = Connection::open(u32::MAX).unwrap_err();
        assert!(matches!(error, ControlError::NoProcess(_)), "{error}");
    }

    /// Forks a process that opens its socket as root and then calls `change`.
    #[cfg(not(miri))]
    fn changed_after_control(change: impl FnOnce() -> bool) -> u32 {
        let (mut ready, mut tell) = io::pipe().unwrap();
        // SAFETY: the child opens its socket, makes system calls and waits. The handlers of forks leave it the locks that it takes.
        let child = unsafe { libc::fork() };
        assert!(child >= 0);
        if child == 0 {
            // SAFETY: the child ends with its parent, and runs nothing of this program afterwards.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                libc::alarm(60);
                let is_changed = crate::recorder::control().is_ok() && change();
                let _ = tell.write_all(&[is_changed.into()]);
                loop {
                    libc::pause();
                }
            }
        }
        drop(tell);
        let mut is_changed = [0];
        ready.read_exact(&mut is_changed).unwrap();
        assert_eq!(is_changed, [1], "the child has opened its socket and has changed");
        child.cast_unsigned()
    }

    #[test]
    #[cfg(not(miri))]
    fn a_process_that_has_given_up_its_user_or_its_root_is_found() {
        if !geteuid().is_root() {
            return;
        }
        const NOBODY: u32 = 65534;
        let place = tempfile::tempdir().unwrap();
        let root = std::ffi::CString::new(place.path().to_str().unwrap()).unwrap();
        // SAFETY: plain system calls.
        let new_user = || unsafe { libc::setresuid(NOBODY, NOBODY, NOBODY) == 0 };
        // SAFETY: as above; the path ends with NUL.
        let new_root = || unsafe { libc::chroot(root.as_ptr()) == 0 };
        for pid in [
            changed_after_control(new_user),
            changed_after_control(new_root),
            changed_after_control(|| new_root() && new_user()),
        ] {
            // In a container, root may lack the right to look at another user's process.
            let may_look = fs::read(format!("/proc/{pid}/environ")).is_ok();
            let status = Connection::open(pid).and_then(|mut connection| connection.request(&Request::Status));
            // SAFETY: ends a child of this process, and waits for it.
            unsafe {
                libc::kill(pid.cast_signed(), libc::SIGKILL);
                libc::waitpid(pid.cast_signed(), std::ptr::null_mut(), 0);
            }
            assert!(status.is_ok() || !may_look, "{status:?}");
            let after = Connection::open(pid).unwrap_err();
            assert!(matches!(after, ControlError::NoProcess(_)), "{after}");
        }
    }

    #[test]
    fn a_process_without_control_is_told_how_to_have_it() {
        let error = Connection::open(std::os::unix::process::parent_id()).unwrap_err().to_string();
        assert!(error.contains("has no control socket: start it with DYNTRACE=control"), "{error}");
    }
}
