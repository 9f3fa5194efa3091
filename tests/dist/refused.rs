//! Refused connections on both sides, and their errors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dyntrace::dist::{Error, Node, Options, term};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::erl::{COOKIE, World, ask, connected};
use crate::world;

#[tokio::test]
async fn without_epmd_the_error_names_the_way_out() {
    // Bound without a listener, so that no other program gets the port.
    let taken = tokio::net::TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = taken.local_addr().unwrap().port();
    let options = Options { epmd_port: port, ..Options::default() };
    let error = Node::start_with("worker@127.0.0.1", COOKIE, options).unwrap_err();
    assert!(matches!(&error, Error::NoEpmd { port: at, .. } if *at == port), "{error}");
    assert!(error.to_string().contains("epmd -daemon"), "{error}");
}

#[test]
fn outside_of_a_runtime_there_is_no_node() {
    assert!(matches!(Node::start("worker@127.0.0.1", COOKIE), Err(Error::NoRuntime)));
}

#[tokio::test]
async fn another_cookie_is_refused_by_both_sides() {
    let mut world = world!();
    let node = world.node("worker@127.0.0.1");
    let mut inbox = node.register("worker").unwrap();
    world.erl_with_cookie("-name", "stranger@127.0.0.1", "another", &["dial", "worker@127.0.0.1", "worker"]);
    let error = loop {
        match node.connect("stranger@127.0.0.1").await.unwrap_err() {
            Error::NoSuchNode { .. } | Error::Unreachable { .. } => tokio::time::sleep(Duration::from_millis(10)).await,
            error => break error,
        }
    };
    assert!(matches!(&error, Error::Cookie { .. }), "{error}");
    assert!(error.to_string().contains("-setcookie"), "{error}");
    // The Erlang node has dialled, too, before its driver answered requests; none of its messages arrived.
    world.erl("-name", "erl@127.0.0.1", &[]);
    connected(&node, "erl@127.0.0.1").await;
    assert_eq!(ask(&mut inbox, "erl@127.0.0.1", vec![term!(echo), term!(1)]).await.term, term!({echo, 1}));
    assert_eq!(node.nodes(), ["erl@127.0.0.1"]);
}

#[tokio::test]
async fn names_that_cannot_be_reached() {
    let world = world!();
    let node = world.node("worker@127.0.0.1");
    assert!(matches!(node.connect("erl@localhost").await, Err(Error::Name { .. })), "a short name");
    assert!(matches!(node.connect("worker@127.0.0.1").await, Err(Error::Name { .. })), "itself");
    assert!(matches!(node.connect("nobody").await, Err(Error::Name { .. })), "no host");
    assert!(matches!(node.connect("nobody@127.0.0.1").await, Err(Error::NoSuchNode { .. })));
    let again = Node::start_with("worker@127.0.0.1", COOKIE, world.options()).unwrap_err();
    assert!(matches!(again, Error::NameTaken(_)), "{again}");
}

#[tokio::test]
async fn after_a_failure_sends_fail_at_once_for_a_pause() {
    let world = world!();
    let options = Options { backoff: Duration::from_secs(3600), ..world.options() };
    let node = Node::start_with("worker@127.0.0.1", COOKIE, options).unwrap();
    assert!(matches!(node.connect("nobody@127.0.0.1").await, Err(Error::NoSuchNode { .. })));
    let error = node.connect("nobody@127.0.0.1").await.unwrap_err();
    assert!(matches!(&error, Error::Unreachable { reason, .. } if reason.contains("knows no node")), "{error}");
}

/// Sends bytes to a node's port, and waits until it closes.
async fn stranger(node: &Node, bytes: &[u8]) {
    let mut socket = TcpStream::connect(node.address()).await.unwrap();
    let _ = socket.write_all(bytes).await;
    let _ = socket.shutdown().await;
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(20), socket.read_to_end(&mut answer)).await.expect("it closes");
}

#[tokio::test]
async fn strangers_do_no_harm() {
    let mut world: World = world!();
    let node = world.node("worker@127.0.0.1");
    let mut inbox = node.register("worker").unwrap();
    let name = |flags: u64, name: &[u8]| {
        let mut bytes = vec![0, 15 + name.len() as u8, b'N'];
        bytes.extend_from_slice(&flags.to_be_bytes());
        bytes.extend_from_slice(&7u32.to_be_bytes());
        bytes.extend_from_slice(&(name.len() as u16).to_be_bytes());
        bytes.extend_from_slice(name);
        bytes
    };
    let all = u64::MAX;
    for bytes in [
        b"".to_vec(),
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        vec![0, 0],
        vec![0, 1, b'N'],
        vec![0xff; 100_000],
        name(all, b"peer@127.0.0.1"),
        name(all & !(1 << 33), b"peer@127.0.0.1"),
        name(0, b"peer@127.0.0.1"),
        name(all & !(1 << 33), b"\xff\xfe@127.0.0.1"),
        name(all & !(1 << 33), b"worker@127.0.0.1"),
        name(all & !(1 << 33), b"peer@short"),
        // A name, followed at once by a message.
        [name(all & !(1 << 33), b"peer@127.0.0.1"), message()].concat(),
        // ... and a wrong answer to the challenge before it.
        [name(all & !(1 << 33), b"peer@127.0.0.1"), vec![0, 21, b'r'], vec![7; 20], message()].concat(),
    ] {
        stranger(&node, &bytes).await;
    }
    assert!(node.nodes().is_empty());
    assert!(inbox.try_recv().is_none(), "of none of them anything came through");
    world.erl("-name", "erl@127.0.0.1", &[]);
    connected(&node, "erl@127.0.0.1").await;
}

/// Returns a message for the process `worker`, as a peer sends it after the handshake.
fn message() -> Vec<u8> {
    let pid = dyntrace::dist::Pid::new("peer@127.0.0.1", 1, 2, 3);
    let mut terms = vec![112];
    for term in [term!({6, (pid), (dyntrace::dist::Atom::from("")), worker}), term!(hello)] {
        term.encode(&mut terms).unwrap();
    }
    [&(terms.len() as u32).to_be_bytes()[..], &terms].concat()
}

/// The handshake refuses any bytes of a stranger, without a panic.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_that_are_nearly_right_do_no_harm() {
    let world: World = world!();
    let panics = panics_of_dist();
    let node = world.node("worker@127.0.0.1");
    let mut good = vec![0, 29, b'N'];
    good.extend_from_slice(&(!(1u64 << 33)).to_be_bytes());
    good.extend_from_slice(&7u32.to_be_bytes());
    good.extend_from_slice(&[0, 14]);
    good.extend_from_slice(b"peer@127.0.0.1");
    good.extend_from_slice(&[0, 21, b'r']);
    good.extend_from_slice(&[7; 20]);
    // The same each time.
    let mut random = 1u32;
    let mut below = |limit: usize| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) as usize % limit
    };
    for _ in 0..500 {
        let mut bytes = good.clone();
        for _ in 0..=below(3) {
            let at = below(bytes.len());
            bytes[at] = [0, 1, 0x7f, 0xff, below(256) as u8][below(5)];
        }
        bytes.truncate(1 + below(bytes.len()));
        stranger(&node, &bytes).await;
    }
    assert!(node.nodes().is_empty());
    assert_eq!(panics.load(Ordering::Relaxed), 0);
}

/// Counts panics of the code that reads from peers, as a runtime catches the panics of its tasks.
pub fn panics_of_dist() -> &'static AtomicUsize {
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let file = panic.location().map_or("", |location| location.file());
        if ["crates/dist/src/", "erl_dist", "eetf"].iter().any(|part| file.contains(part)) && !file.contains("tests/") {
            PANICS.fetch_add(1, Ordering::Relaxed);
        }
        before(panic);
    }));
    &PANICS
}
