//! The probes of messages between nodes, as recorded.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::time::Duration;

use dyntrace::dist::{Node, Options, term};
use dyntrace::process;
use dyntrace::recorder::{Options as Recording, Session};
use dyntrace::seq_trace::{self, Flags};
use dyntrace_reader::{Event, Trace, Value};
use tokio::io::AsyncReadExt;

use crate::erl::{COOKIE, in_the_end, next};
use crate::hostile::{Hostile, PEER};
use crate::world;

const NEAR: &str = "seen-near@127.0.0.1";
const FAR: &str = "seen-far@127.0.0.1";

/// Returns the events of a recording, each as its probe and fields.
fn lines(folder: &Path) -> Vec<String> {
    fn show(value: Value<'_>) -> String {
        match value {
            Value::Signed(number) => number.to_string(),
            Value::Unsigned(number) => number.to_string(),
            Value::Text(text) => String::from_utf8_lossy(&text).into_owned(),
        }
    }
    let trace = Trace::open(folder).unwrap();
    let line = |event: Event<'_>| {
        let fields: Vec<String> = event.fields().map(|(_, value)| show(value)).collect();
        format!("{} {}", event.class.probe(), fields.join(" "))
    };
    trace.events().map(line).collect()
}

/// Waits until a node has lost a connection, and returns the reason.
async fn lost(node: &Node) -> String {
    in_the_end(async {
        loop {
            if let Some(lost) = node.lost_connections().pop() {
                return lost.reason;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await
}

#[tokio::test]
async fn each_step_of_a_message_and_a_peer_that_is_too_slow() {
    let world = world!();
    let directory = tempfile::tempdir().unwrap();
    let session = Session::start(Recording::new(directory.path())).unwrap();
    let small = Options { busy_limit: 1, mailbox_limit: 1, ..world.options() };
    let near = Node::start_with(NEAR, COOKIE, small.clone()).unwrap();
    let far = Node::start_with(FAR, COOKIE, small).unwrap();
    let (sender, receiver, reason) = dyntrace::spawn(async move {
        let mut inbox = far.register("box").unwrap();
        let receiver = format!("<0.{}.0>", inbox.pid().id);
        seq_trace::set_token(42, Flags::SEND).unwrap();
        near.send(("box", FAR), term!({ok, 1})).await.unwrap();
        seq_trace::take_token();
        next(&mut inbox).await;
        seq_trace::take_token();
        // At most 128 MiB, to a peer that reads nothing.
        for _ in 0..128 {
            let send = near.send(("box", FAR), term!((vec![0u8; 1 << 20])));
            if tokio::time::timeout(Duration::from_millis(500), send).await.is_err() {
                break;
            }
        }
        // Now the peer reads everything.
        while tokio::time::timeout(Duration::from_millis(500), inbox.recv_message()).await.is_ok() {}
        in_the_end(near.send(("box", FAR), term!(room))).await.unwrap();
        drop((inbox, far));
        (process::current().to_string(), receiver, lost(&near).await)
    })
    .await
    .unwrap();
    session.stop().unwrap();

    let lines = lines(directory.path());
    for expected in [
        format!("message-send-remote {sender} {FAR} box 3 42 0 1"),
        format!("message-queued {receiver} 3 1 42 0 1"),
        format!("message-receive {receiver} 3 0 42 0 1"),
        // A binary of this size counts as six words, as its content is only referred to.
        format!("message-send-remote {sender} {FAR} box 6 0 0 0"),
        // The events of the other node.
        format!("dist-monitor {FAR} nodeup {NEAR} hidden "),
    ] {
        assert!(lines.contains(&expected), "{expected}: {lines:#?}");
    }
    let of_near = |line: &&String| {
        ["monitor", "port_busy", "port_not_busy"].iter().any(|probe| line.starts_with(&format!("dist-{probe} {NEAR} ")))
    };
    let of_near: Vec<&String> = lines.iter().filter(of_near).collect();
    let [first, waits @ .., last] = of_near.as_slice() else { panic!("{lines:#?}") };
    assert_eq!(**first, format!("dist-monitor {NEAR} nodeup {FAR} hidden "));
    assert_eq!(**last, format!("dist-monitor {NEAR} nodedown {FAR} hidden {reason}"));
    // One process sends: each of its waits ends before the next.
    let busy = format!("dist-port_busy {NEAR} {FAR} {FAR} {sender}");
    let not_busy = format!("dist-port_not_busy {NEAR} {FAR} {FAR}");
    assert!(!waits.is_empty() && waits.len().is_multiple_of(2), "{waits:#?}");
    assert!(waits.chunks(2).all(|wait| [wait[0], wait[1]] == [&busy, &not_busy]), "{waits:#?}");
    // The sender waits for the connection, and then for room.
    let of = |probe: &str, kind: &str| {
        let begin = format!("process-{probe} {sender} {FAR} ");
        let place = format!(" {kind} tests/dist/probes.rs:");
        lines.iter().filter(|line| line.starts_with(&begin) && format!(" {line}").contains(&place)).count()
    };
    assert_eq!((of("wait", "dist::connect"), of("resume", "ready dist::connect")), (1, 1), "{lines:#?}");
    let sends = of("wait", "dist::send");
    assert!(sends > 0 && of("resume", "dist::send") == sends, "{lines:#?}");
    assert_eq!(of("resume", "cancelled dist::send"), 1, "the one that was given up: {lines:#?}");
}

#[tokio::test]
async fn bytes_are_counted_as_the_socket_takes_them() {
    const NODE: &str = "seen-bytes@127.0.0.1";
    const SENT: usize = 24 << 20;
    let world = world!();
    let directory = tempfile::tempdir().unwrap();
    let session = Session::start(Recording::new(directory.path())).unwrap();
    let node = Node::start_with(NODE, COOKIE, world.options()).unwrap();
    let mut peer = Hostile::connect(node.address()).await;
    in_the_end(async {
        while node.nodes().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    node.send(("sink", PEER), term!((vec![7u8; SENT]))).await.unwrap();
    node.send(("sink", PEER), term!(end)).await.unwrap();
    // The node fills the socket buffers, and then waits for the peer.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let read = async {
        let mut bytes = Vec::new();
        while !bytes.windows(3).rev().take(8).any(|end| end == b"end") {
            assert_ne!(peer.socket.read_buf(&mut bytes).await.unwrap(), 0);
        }
        bytes.len()
    };
    let read = in_the_end(read).await;
    drop(peer);
    let reason = lost(&node).await;
    session.stop().unwrap();

    let lines = lines(directory.path());
    let written = format!("dist-output {NODE} {PEER} {PEER} ");
    let counts: Vec<usize> = lines.iter().filter_map(|line| line.strip_prefix(&written)?.parse().ok()).collect();
    assert_eq!(counts.iter().sum::<usize>(), read);
    // No call writes more at once, and none of them failed.
    assert!(counts.len() > 2 && counts.iter().all(|count| (1..SENT).contains(count)), "{counts:?}");
    for expected in [
        format!("dist-monitor {NODE} nodeup {PEER} visible "),
        format!("dist-monitor {NODE} nodedown {PEER} visible {reason}"),
    ] {
        assert_eq!(lines.iter().filter(|line| **line == expected).count(), 1, "{expected}: {lines:#?}");
    }
}
