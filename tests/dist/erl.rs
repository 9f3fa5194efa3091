//! Real Erlang nodes, and an epmd of the test's own.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dyntrace::dist::{Error, Inbox, Message, Node, Options, Term, term};

pub const COOKIE: &str = "the cookie of the tests";

/// A private epmd and its nodes; all end when it is dropped.
pub struct World {
    pub port: u16,
    directory: tempfile::TempDir,
    children: Vec<Child>,
}

impl Drop for World {
    fn drop(&mut self) {
        while !self.children.is_empty() {
            self.kill_last();
        }
    }
}

/// A program that is killed whenever this one ends: a shell waits for the end of its input.
fn sheltered(program: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$@\" & read -r _; kill -9 $!; wait", "sh", program]).stdin(Stdio::piped());
    shell
}

/// Returns a world if Erlang is installed. If not, the test prints that, and passes unless DYNTRACE_REQUIRE contains `erlang`.
#[macro_export]
macro_rules! world {
    () => {
        match $crate::erl::World::new() {
            Ok(world) => world,
            Err(reason) => return $crate::missing::skip("erlang", &reason.to_string()),
        }
    };
}

impl World {
    pub fn new() -> Result<World, String> {
        let directory = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dist/dyntrace_peer.erl");
        let compiled = Command::new("erlc").arg("-o").arg(directory.path()).arg(source).status();
        match compiled {
            Ok(status) if status.success() => {}
            Ok(status) => panic!("erlc: {status}"),
            Err(error) => return Err(format!("no Erlang here: erlc: {error}; install erlang-base")),
        }
        // A free port. If another program takes it before epmd does, this test reports that.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut world = World { port, directory, children: Vec::new() };
        world.start_epmd();
        Ok(world)
    }

    pub fn start_epmd(&mut self) {
        let port = self.port.to_string();
        let epmd = sheltered("epmd").args(["-port", &port, "-address", "127.0.0.1"]).stderr(Stdio::null()).spawn();
        self.children.push(epmd.unwrap());
        until("epmd answers", || std::net::TcpStream::connect(("127.0.0.1", self.port)).ok());
    }

    /// Kills the program started last that still runs: a node, or epmd.
    pub fn kill_last(&mut self) {
        let mut child = self.children.pop().expect("something was started");
        drop(child.stdin.take());
        // The shell's status is irrelevant.
        let _ = child.wait();
    }

    pub fn options(&self) -> Options {
        Options { epmd_port: self.port, backoff: Duration::from_millis(1), ..Options::default() }
    }

    /// Starts a dyntrace node.
    pub fn node(&self, name: &str) -> Node {
        Node::start_with(name, COOKIE, self.options()).unwrap()
    }

    /// Starts an Erlang node that runs the driver. `kind` is `-name` or `-sname`.
    pub fn erl(&mut self, kind: &str, name: &str, arguments: &[&str]) {
        self.erl_with_cookie(kind, name, COOKIE, arguments);
    }

    pub fn erl_with_cookie(&mut self, kind: &str, name: &str, cookie: &str, arguments: &[&str]) {
        self.start_erl(kind, name, cookie, &[], arguments);
    }

    /// The same with another transport of the distribution, `over`.
    #[cfg(feature = "dist-tls")]
    pub fn erl_over(&mut self, kind: &str, name: &str, over: &[String], arguments: &[&str]) {
        self.start_erl(kind, name, COOKIE, over, arguments);
    }

    fn start_erl(&mut self, kind: &str, name: &str, cookie: &str, over: &[String], arguments: &[&str]) {
        let mut erl = sheltered("erl");
        erl.env("ERL_EPMD_PORT", self.port.to_string())
            .env("HOME", self.directory.path())
            .current_dir(self.directory.path());
        erl.args([kind, name, "-setcookie", cookie, "-start_epmd", "false", "-noinput", "-pa"])
            .arg(self.directory.path());
        erl.args(over);
        erl.args(["-kernel", "inet_dist_use_interface", "{127,0,0,1}", "-run", "dyntrace_peer", "start"])
            .args(arguments);
        self.children.push(erl.spawn().unwrap());
    }
}

/// Repeats the request until it is answered, for at most 20 s.
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "not within 20 s: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Connects to a starting node, and waits until its driver, which starts after it, answers.
pub async fn connected(node: &Node, peer: &str) {
    let started = Instant::now();
    let mut inbox = node.inbox();
    loop {
        assert!(started.elapsed() < Duration::from_secs(20), "{peer} does not answer");
        match inbox.send(("driver", peer), term!({(inbox.pid()), echo, ready})).await {
            Ok(()) => {
                if tokio::time::timeout(Duration::from_millis(100), inbox.recv_message()).await.is_ok() {
                    return;
                }
            }
            Err(Error::NoSuchNode { .. } | Error::Unreachable { .. } | Error::Io { .. } | Error::Lost { .. }) => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Sends the driver a request that begins with the inbox's pid, and waits for the answer.
pub async fn ask(inbox: &mut Inbox, driver: &str, request: Vec<Term>) -> Message {
    tell(inbox, driver, request).await;
    next(inbox).await
}

pub async fn tell(inbox: &Inbox, driver: &str, mut request: Vec<Term>) {
    request.insert(0, inbox.pid().into());
    let request: dyntrace::dist::Tuple = request.into();
    inbox.send(("driver", driver), term!((request))).await.unwrap();
}

/// Limits a future to 20 s.
pub async fn in_the_end<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), what).await.expect("within 20 s")
}

/// Returns the next message, within 20 s.
pub async fn next(inbox: &mut Inbox) -> Message {
    in_the_end(inbox.recv_message()).await
}
