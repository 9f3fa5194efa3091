//! The client: controls another process.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dyntrace_folders::{exists, living_thread};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::directory::{Directory, variable};
use super::error::ControlError;
use super::peer::peer;
use super::protocol::{self, GREETING, Record, Reply, Request};

/// How long a process may take to greet.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a message may take from its first byte to its last one.
const WHOLE: Duration = Duration::from_secs(15);

/// A connection to the control socket of a process. Sessions started over it end with it.
///
/// The process may be hostile: each message has a limit for all its bytes together.
#[derive(Debug)]
pub struct Connection {
    pid: u32,
    stream: UnixStream,
    arrived: Vec<u8>,
    /// An answer that was not waited for may still come: no later one can be told from it.
    is_unusable: bool,
    /// An [`Ender`] waits no longer.
    is_given_up: Arc<AtomicBool>,
    /// How long a message may take that has begun.
    whole: Duration,
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
        let mut connection = Connection::over(pid, stream)?;
        connection.exchange(GREETING, Some(PATIENCE))?;
        Ok(connection)
    }

    fn over(pid: u32, stream: UnixStream) -> Result<Connection, ControlError> {
        stream.set_nonblocking(true).map_err(ControlError::system(format!("talk to process {pid}")))?;
        let is_given_up = Arc::default();
        Ok(Connection { pid, stream, arrived: Vec::new(), is_unusable: false, is_given_up, whole: WHOLE })
    }

    /// The processes of this user that have a control socket, by their numbers: 0 for each one in a pid namespace that is not visible from
    /// here.
    ///
    /// # Errors
    ///
    /// [`ControlError`] if the folder of sockets cannot be read or trusted.
    pub fn processes() -> Result<Vec<u32>, ControlError> {
        let directory = Directory::own()?;
        directory.remove_stale();
        let sockets = directory.processes().map_err(ControlError::system("list the control sockets"))?;
        // A socket is named by the number that its process has in its own pid namespace.
        let server = |number: &u32| match directory.connect(*number) {
            Ok(stream) => peer(&stream).ok().map(|peer| peer.pid),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => None,
            Err(_) => Some(*number),
        };
        Ok(sockets.iter().filter_map(server).collect())
    }

    /// Sends a request and waits for the answer: until it begins as long as the process takes, then 15 seconds.
    ///
    /// # Errors
    ///
    /// [`ControlError::Refused`] if the process refuses; others if it has ended or its answer is invalid.
    pub fn request(&mut self, request: &Request) -> Result<Vec<Record>, ControlError> {
        self.exchange(&request.to_string(), None)
    }

    /// Like [`request`](Connection::request), with a limit on the time until the whole answer is there, as the process may be stopped.
    ///
    /// # Errors
    ///
    /// [`ControlError::Silent`] if it takes longer. The connection is unusable then: each later request has this error.
    pub fn request_within(&mut self, request: &Request, limit: Duration) -> Result<Vec<Record>, ControlError> {
        self.exchange(&request.to_string(), Some(limit))
    }

    /// Waits for the next message of a trace: until it begins as long as the process takes, then 15 seconds.
    ///
    /// # Errors
    ///
    /// [`ControlError::System`] with [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) at the end; others if a message is invalid.
    pub fn hear(&mut self) -> Result<Vec<Record>, ControlError> {
        self.hear_until(None)
    }

    /// Like [`hear`](Connection::hear), with a limit on the time until the whole message is there.
    ///
    /// # Errors
    ///
    /// [`ControlError::Silent`] if it takes longer, and others as of [`hear`](Connection::hear).
    pub fn hear_within(&mut self, limit: Duration) -> Result<Vec<Record>, ControlError> {
        self.hear_until(Instant::now().checked_add(limit))
    }

    fn hear_until(&mut self, deadline: Option<Instant>) -> Result<Vec<Record>, ControlError> {
        let pid = self.pid;
        let Reply(said) = self.receive(deadline)?.parse().map_err(|error| ControlError::Protocol { pid, error })?;
        said.map_err(|why| ControlError::Refused { pid, why })
    }

    /// Returns a handle by which another thread can end the trace.
    ///
    /// # Errors
    ///
    /// No descriptor is left.
    pub fn ender(&self) -> Result<Ender, ControlError> {
        let doing = format!("watch the connection to process {}", self.pid);
        let stream = self.stream.try_clone().map_err(ControlError::system(doing))?;
        Ok(Ender { stream, is_given_up: Arc::clone(&self.is_given_up) })
    }

    /// Whether the process has not closed the connection. Does not block.
    pub fn is_open(&self) -> bool {
        let mut byte = [0];
        let flags = rustix::net::RecvFlags::PEEK | rustix::net::RecvFlags::DONTWAIT;
        !matches!(rustix::net::recv(&self.stream, &mut byte, flags), Ok((_, 0)) | Err(rustix::io::Errno::CONNRESET))
    }

    fn exchange(&mut self, message: &str, limit: Option<Duration>) -> Result<Vec<Record>, ControlError> {
        let pid = self.pid;
        if self.is_unusable {
            return Err(ControlError::Silent(pid));
        }
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let protocol = |error| ControlError::Protocol { pid, error };
        // If this fails, the process has closed the connection, perhaps after an answer that can still be read.
        let sent = self.send(&protocol::frame(message).map_err(protocol)?, deadline);
        match (sent, self.is_unusable) {
            (Ok(()), _) => self.hear_until(deadline),
            (sent @ Err(_), true) => sent.map(|()| Vec::new()),
            (sent, false) => match self.hear_until(deadline) {
                Err(ControlError::System { .. }) => sent.map(|()| Vec::new()),
                other => other,
            },
        }
    }

    fn send(&mut self, mut bytes: &[u8], deadline: Option<Instant>) -> Result<(), ControlError> {
        let whole = self.is_whole_until(deadline);
        while !bytes.is_empty() {
            match self.stream.write(bytes) {
                Ok(length) => bytes = &bytes[length..],
                Err(error) => self.wait(error, PollFlags::OUT, whole, "talk to")?,
            }
        }
        Ok(())
    }

    fn receive(&mut self, deadline: Option<Instant>) -> Result<String, ControlError> {
        let pid = self.pid;
        let mut whole = None;
        loop {
            if let Some(message) =
                protocol::take(&mut self.arrived).map_err(|error| ControlError::Protocol { pid, error })?
            {
                return Ok(message);
            }
            if whole.is_none() && !self.arrived.is_empty() {
                whole = self.is_whole_until(deadline);
            }
            let mut piece = [0; 4096];
            match self.stream.read(&mut piece) {
                // It is this process that has closed the connection.
                Ok(0) if self.is_given_up.load(Ordering::Relaxed) => return Err(ControlError::Silent(pid)),
                Ok(0) => {
                    let ended = io::Error::new(io::ErrorKind::UnexpectedEof, "it has closed the connection");
                    return Err(ControlError::system(format!("hear from process {pid}"))(ended));
                }
                Ok(length) => self.arrived.extend_from_slice(&piece[..length]),
                Err(error) => self.wait(error, PollFlags::IN, whole.or(deadline), "hear from")?,
            }
        }
    }

    /// When a message that begins now must be whole.
    fn is_whole_until(&self, deadline: Option<Instant>) -> Option<Instant> {
        Instant::now().checked_add(self.whole).into_iter().chain(deadline).min()
    }

    /// Waits until the failed call can be repeated; fails if its error is another one, or at the deadline.
    fn wait(
        &mut self,
        error: io::Error,
        until: PollFlags,
        deadline: Option<Instant>,
        doing: &str,
    ) -> Result<(), ControlError> {
        match error.kind() {
            io::ErrorKind::Interrupted => return Ok(()),
            io::ErrorKind::WouldBlock => {}
            _ => return Err(ControlError::system(format!("{doing} process {}", self.pid))(error)),
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        // A time that the kernel cannot take has no end.
        let limit = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut [PollFd::new(&self.stream, until)], limit.as_ref()) {
            Ok(0) => {
                self.is_unusable = true;
                Err(ControlError::Silent(self.pid))
            }
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(ControlError::system(format!("{doing} process {}", self.pid))(error.into())),
        }
    }
}

/// Ends a trace over a connection.
#[derive(Debug)]
pub struct Ender {
    stream: UnixStream,
    is_given_up: Arc<AtomicBool>,
}

impl Ender {
    /// Ends the trace. Its last messages can still be received.
    pub fn end(&self) {
        // It fails if the process has ended.
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Closes the connection: a thread that waits for messages gets [`ControlError::Silent`].
    pub fn give_up(&self) {
        // Relaxed: the system call comes after it, and wakes the thread that reads it.
        self.is_given_up.store(true, Ordering::Relaxed);
        let _ = self.stream.shutdown(Shutdown::Both);
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
            io::ErrorKind::NotFound if exists(pid) => ControlError::Hidden(pid),
            io::ErrorKind::NotFound => ControlError::NoProcess(pid),
            _ => ControlError::system(format!("look at process {pid}"))(error),
        };
        let status = fs::read_to_string(proc.join("status")).map_err(missing)?;
        let own_number = own_number(&status).unwrap_or(pid);
        let uid = effective_user(&status)
            .map_or_else(|| proc.metadata().map(|metadata| metadata.uid()), Ok)
            .map_err(missing)?;
        let doing =
            format!("read the environment of process {pid}, which takes its user or the capability CAP_SYS_PTRACE");
        let thread = living_thread(pid).ok_or(ControlError::Zombie(pid))?;
        let proc = PathBuf::from(format!("/proc/{thread}"));
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

    /// Whether `other` has the same number in another pid namespace.
    fn is_namesake(&self, other: &Process) -> bool {
        let namespace = |pid: u32| fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
        let is_elsewhere = namespace(self.pid).zip(namespace(other.pid)).is_some_and(|(own, other)| own != other);
        self.own_number == other.own_number && is_elsewhere
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
            // Refused: the socket of an earlier process with this number, which was killed, or one that does not listen yet.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
                return Err(ControlError::NoControl(pid));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(ControlError::Silent(pid)),
            other => other.map_err(ControlError::system(format!("connect to process {pid}")))?,
        };
        let peer = peer(&stream).map_err(ControlError::system(format!(
            "read the credentials of the process that serves the socket of process {pid}"
        )))?;
        if peer.uid == uid && peer.pid != pid && Process::find(peer.pid).is_ok_and(|by| self.is_namesake(&by)) {
            return Err(ControlError::Namesake { pid, by: peer.pid });
        }
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

    /// Sends the bytes one at a time, and then again and again, until nobody receives them.
    fn drip(bytes: Vec<u8>) -> Connection {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        std::thread::spawn(move || {
            for byte in bytes.iter().cycle() {
                if theirs.write_all(&[*byte]).is_err() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        Connection::over(1, ours).unwrap()
    }

    /// More bytes than arrive while a test lasts.
    fn endless() -> Vec<u8> {
        [&60_000_u32.to_le_bytes()[..], &[b' '; 60_000]].concat()
    }

    #[test]
    fn an_answer_has_one_limit_for_all_its_bytes() {
        const SHORT: Duration = Duration::from_millis(50);
        let is_silent = |answer| assert!(matches!(answer, Err(ControlError::Silent(1))), "{answer:?}");
        let mut connection = drip(endless());
        is_silent(connection.request_within(&Request::Metrics, SHORT));
        is_silent(connection.request(&Request::Metrics));
        is_silent(drip(endless()).hear_within(SHORT));
        // Of a stream, only a message that has begun has a limit.
        let mut connection = drip(endless());
        connection.whole = SHORT;
        is_silent(connection.hear());
        // Nobody reads this request.
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let mut connection = Connection::over(1, ours).unwrap();
        connection.whole = SHORT;
        let longest = Request::Code(Record::default().with("x", "y".repeat(60_000)));
        let answer = (0..100).find_map(|_| connection.exchange(&longest.to_string(), Some(SHORT)).err());
        assert!(matches!(answer, Some(ControlError::Silent(1))), "{answer:?}");
    }

    #[test]
    fn messages_that_arrive_in_time_are_heard_one_by_one() {
        let mut connection = drip([protocol::frame("ok\nx=1").unwrap(), protocol::frame("ok\nx=2").unwrap()].concat());
        for expected in [1, 2, 1, 2] {
            assert_eq!(connection.hear().unwrap()[0].number("x"), Some(expected));
        }
    }

    #[test]
    fn an_ender_ends_the_wait_for_a_process_that_goes_on() {
        let mut connection = drip(protocol::frame("ok\nx=1").unwrap());
        let ender = connection.ender().unwrap();
        ender.end();
        connection.hear().unwrap();
        ender.give_up();
        let end = std::iter::repeat_with(|| connection.hear()).find_map(Result::err);
        assert!(matches!(end, Some(ControlError::Silent(1))), "{end:?}");
        // Also of one that says nothing, and is waited for.
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let mut connection = Connection::over(1, ours).unwrap();
        let ender = connection.ender().unwrap();
        let waits = std::thread::spawn(move || connection.hear());
        ender.give_up();
        assert!(matches!(waits.join().unwrap(), Err(ControlError::Silent(1))));
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
