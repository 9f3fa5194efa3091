//! The server against clients that behave, and against those that do not.

use std::cell::RefCell;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::glob::Glob;
use crate::recorder::control::protocol::Reply;
use crate::recorder::filter::Filter;
use crate::recorder::options::Options;

/// Sessions that are only numbers.
#[derive(Clone, Default)]
struct Numbers(Arc<Mutex<Vec<u32>>>);

impl Numbers {
    fn lock(&self) -> MutexGuard<'_, Vec<u32>> {
        self.0.lock().unwrap()
    }

    fn check(&self, session: u32) -> Result<(), String> {
        self.lock().contains(&session).then_some(()).ok_or_else(|| format!("no session {session}"))
    }
}

impl SessionAccess for Numbers {
    fn start(&self, options: Options) -> Result<u32, String> {
        if options.directory == Path::new("/full") {
            return Err("no space left".to_owned());
        }
        let mut numbers = self.lock();
        let number = (1..).find(|number| !numbers.contains(number)).unwrap();
        numbers.push(number);
        Ok(number)
    }

    fn change(&self, session: u32, _probes: Vec<Glob>, _filter: Filter) -> Result<(), String> {
        self.check(session)
    }

    fn stop(&self, session: u32) -> Result<Record, String> {
        self.check(session)?;
        self.lock().retain(|&number| number != session);
        Ok(Record::default().with("stopped", session))
    }

    fn snapshot(&self, session: u32, directory: &Path) -> Result<Record, String> {
        self.check(session).map(|()| Record::default().with("written", directory.display()))
    }

    fn status(&self) -> Vec<Record> {
        self.lock().iter().map(|number| Record::default().with("session", number)).collect()
    }
}

/// The patience of all servers here: longer than any test takes, unless it moves the server's clock.
const PATIENCE: Duration = Duration::from_secs(600);

/// A running server.
struct Running {
    place: TempDir,
    sessions: Numbers,
    /// The seconds by which the server's clock is ahead.
    ahead: Arc<AtomicU64>,
    has_to_end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn new() -> Running {
        let place = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(place.path().join("socket")).unwrap();
        let sessions = Numbers::default();
        let has_to_end = Arc::new(AtomicBool::new(false));
        let limits = Limits { patience: PATIENCE, ..Limits::default() };
        let mut server = Server::new(listener, sessions.clone(), limits).unwrap();
        let ahead = Arc::new(AtomicU64::new(0));
        let (end, seconds) = (has_to_end.clone(), ahead.clone());
        let thread = thread::spawn(move || {
            let clock = || Instant::now() + Duration::from_secs(seconds.load(Ordering::Relaxed));
            while !end.load(Ordering::Relaxed) {
                server.turn(Some(clock() + Duration::from_millis(5)), &clock);
            }
        });
        Running { place, sessions, ahead, has_to_end, thread: Some(thread) }
    }

    /// Has all deadlines of this moment pass.
    fn lose_patience(&self) {
        self.ahead.fetch_add(PATIENCE.as_secs() + 1, Ordering::Relaxed);
    }

    fn socket(&self) -> PathBuf {
        self.place.path().join("socket")
    }

    fn connect(&self) -> Client {
        Client { stream: UnixStream::connect(self.socket()).unwrap(), arrived: Vec::new() }
    }

    fn greeted(&self) -> Client {
        let mut client = self.connect();
        assert_eq!(client.ask(GREETING), "ok");
        client
    }

    fn refused(&self) -> u64 {
        let status: Reply = self.greeted().ask("status").parse().unwrap();
        status.0.unwrap()[0].number("refused").unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.has_to_end.store(true, Ordering::Relaxed);
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || thread::panicking(), "the server has panicked");
    }
}

struct Client {
    stream: UnixStream,
    arrived: Vec<u8>,
}

impl Client {
    fn send(&mut self, bytes: &[u8]) {
        // The server may have closed the connection.
        let _ = self.stream.write_all(bytes);
    }

    fn ask(&mut self, message: &str) -> String {
        self.send(&protocol::frame(message).unwrap());
        self.hear().unwrap()
    }

    /// The next message, or `None` at the connection's end.
    fn hear(&mut self) -> Option<String> {
        loop {
            if let Some(message) = protocol::take(&mut self.arrived).unwrap() {
                return Some(message);
            }
            let mut piece = [0; 4096];
            match self.stream.read(&mut piece) {
                Ok(0) | Err(_) => return None,
                Ok(length) => self.arrived.extend_from_slice(&piece[..length]),
            }
        }
    }
}

#[test]
fn every_request_is_answered() {
    let running = Running::new();
    let mut client = running.greeted();
    assert_eq!(client.ask("start record:/t"), "ok\nsession=1");
    assert_eq!(client.ask("start record:/t,mode=overwrite"), "ok\nsession=2");
    assert_eq!(client.ask("change 2 failed"), "ok");
    assert_eq!(client.ask("snapshot 2 /t/last seconds"), "ok\nwritten=/t/last seconds");
    assert_eq!(client.ask("stop 1"), "ok\nstopped=1");
    let pid = std::process::id();
    assert_eq!(client.ask("status"), format!("ok\npid={pid}\trefused=0\nsession=2"));
}

#[test]
fn a_refused_request_ends_no_session() {
    let running = Running::new();
    let mut client = running.greeted();
    for (request, answer) in [
        ("stop 7", "error no session 7"),
        ("start record:/full", "error no space left"),
        ("start record:/t,size=1", "error size=\"1\": expected a number of bytes from 64K to 64G, like 16M"),
        ("start record:here", "error the directory \"here\" is relative: give an absolute path"),
        ("dance", "error \"dance\" is no request"),
    ] {
        let answered = client.ask(request);
        assert!(answered.starts_with(answer), "{request}: {answered}");
    }
    assert_eq!(client.ask("start record:/t"), "ok\nsession=1");
}

#[test]
fn sessions_end_with_their_connection_and_others_may_use_them_before() {
    let running = Running::new();
    let mut owner = running.greeted();
    let mut other = running.greeted();
    for _ in 0..3 {
        owner.ask("start record:/t");
    }
    assert_eq!(other.ask("start record:/t"), "ok\nsession=4");
    assert_eq!(other.ask("change 2 failed"), "ok");
    assert_eq!(other.ask("stop 1"), "ok\nstopped=1");
    drop(owner);
    while running.sessions.lock().len() > 1 {
        thread::yield_now();
    }
    assert_eq!(*running.sessions.lock(), [4]);
}

/// Another server has taken its place.
#[test]
fn a_server_whose_listener_is_shut_down_ends_with_its_last_connection() {
    let place = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(place.path().join("socket")).unwrap();
    let before = listener.try_clone().unwrap();
    let server = Server::new(listener, Numbers::default(), Limits::default()).unwrap();
    let thread = thread::spawn(|| server.serve());
    let connect = || UnixStream::connect(place.path().join("socket"));
    let mut client = Client { stream: connect().unwrap(), arrived: Vec::new() };
    rustix::net::shutdown(&before, rustix::net::Shutdown::Both).unwrap();
    assert_eq!(connect().unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    assert_eq!((client.ask(GREETING), client.ask("start record:/t")), ("ok".to_owned(), "ok\nsession=1".to_owned()));
    drop(client);
    thread.join().unwrap();
}

#[test]
fn another_version_is_refused() {
    let running = Running::new();
    let mut client = running.connect();
    assert_eq!(client.ask("dyntrace 2"), "error \"dyntrace 2\" instead of \"dyntrace 1\"");
    assert_eq!(client.hear(), None);
    assert_eq!(running.refused(), 1);
}

#[test]
fn messages_in_pieces_and_several_at_once() {
    let running = Running::new();
    let mut client = running.connect();
    for byte in protocol::frame(GREETING).unwrap() {
        client.send(&[byte]);
    }
    assert_eq!(client.hear().as_deref(), Some("ok"));
    let requests = ["start record:/t", "stop 1", "status"].map(|request| protocol::frame(request).unwrap());
    client.send(&requests.concat());
    assert_eq!(client.hear().as_deref(), Some("ok\nsession=1"));
    assert_eq!(client.hear().as_deref(), Some("ok\nstopped=1"));
    assert!(client.hear().unwrap().starts_with("ok\npid="));
}

#[test]
fn half_a_message_and_silence_end_a_connection_but_not_one_with_a_session() {
    let running = Running::new();
    let mut recording = running.greeted();
    assert_eq!(recording.ask("start record:/t"), "ok\nsession=1");
    let mut half = running.greeted();
    half.send(&[9, 0, 0, 0, b's']);
    let strange = running.connect();
    // The server has read all that came before what it answers.
    let greeted = running.greeted();
    running.lose_patience();
    for mut silent in [half, strange, greeted] {
        assert!(silent.hear().unwrap().starts_with("error no complete message arrived for"));
        assert_eq!(silent.hear(), None);
    }
    assert_eq!(recording.ask("change 1 failed"), "ok");
    recording.send(&[9, 0]);
    running.greeted();
    running.lose_patience();
    assert!(recording.hear().unwrap().starts_with("error no complete message arrived for"));
    while !running.sessions.lock().is_empty() {
        thread::yield_now();
    }
}

#[test]
fn a_message_too_long_is_not_waited_for() {
    let running = Running::new();
    let mut client = running.connect();
    client.send(&[0xff; 4]);
    assert_eq!(client.hear().as_deref(), Some("error a message of 4294967295 bytes; 65536 are the most"));
    assert_eq!(client.hear(), None);
}

#[test]
fn a_thousand_connections() {
    let running = Running::new();
    let mut served: Vec<Client> = (0..64).map(|_| running.greeted()).collect();
    for _ in 64..1000 {
        let mut client = running.connect();
        assert_eq!(client.hear().as_deref(), Some("error 64 clients are connected already"));
        assert_eq!(client.hear(), None);
    }
    assert!(served[63].ask("status").contains("refused=936"));
    drop(served);
    // The server learns of the ends one by one.
    while running.connect().ask(GREETING) != "ok" {
        thread::yield_now();
    }
}

#[test]
fn answers_that_nobody_reads_are_not_kept() {
    let running = Running::new();
    let mut deaf = running.greeted();
    let request = protocol::frame("status").unwrap().repeat(1000);
    while deaf.stream.write_all(&request).is_ok() {}
    assert_eq!(running.refused(), 1);
}

#[test]
fn another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can become another user");
        return;
    }
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;
    let running = Running::new();
    // As if the folder were open to all: the server must not rely on it.
    set_permissions(running.place.path(), Permissions::from_mode(0o755)).unwrap();
    set_permissions(running.socket(), Permissions::from_mode(0o777)).unwrap();
    let answers = thread::scope(|scope| {
        let client = scope.spawn(|| {
            let nobody = rustix::thread::Uid::from_raw(65534);
            // Of this thread only: the kernel has a user for each.
            rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
            let mut client = running.connect();
            (client.hear(), client.hear())
        });
        client.join().unwrap()
    });
    assert_eq!(answers, (Some("error user 65534 may not control a process of user 0".to_owned()), None));
    assert_eq!(running.refused(), 1);
}

#[test]
fn garbage_hurts_nobody() {
    let running = Running::new();
    let client = RefCell::new(running.greeted());
    proptest!(|(pieces: Vec<Vec<u8>>, is_greeted: bool, messages in prop::collection::vec(any::<String>(), 0..4))| {
        let mut hostile = if is_greeted { running.greeted() } else { running.connect() };
        messages.iter().for_each(|message| hostile.send(&protocol::frame(message).unwrap()));
        pieces.iter().for_each(|piece| hostile.send(piece));
        drop(hostile);
        prop_assert!(client.borrow_mut().ask("status").starts_with("ok\npid="));
    });
}
