//! What the probes say of messages between nodes, as the recorder sees them.
#![cfg(target_os = "linux")]

use std::time::Duration;

use dyntrace::dist::{Node, Options, term};
use dyntrace::process;
use dyntrace::recorder::{Options as Recording, Session};
use dyntrace::seq_trace::{self, Flags};
use dyntrace_trace::{Trace, Value};

use crate::erl::{COOKIE, next};
use crate::world;

const NEAR: &str = "seen-near@127.0.0.1";
const FAR: &str = "seen-far@127.0.0.1";

#[tokio::test]
async fn each_step_of_a_message_and_a_peer_that_is_too_slow() {
    let world = world!();
    let directory = tempfile::tempdir().unwrap();
    let session = Session::start(Recording::new(directory.path())).unwrap();
    let small = Options { busy_limit: 1, mailbox_limit: 1, ..world.options() };
    let near = Node::start_with(NEAR, COOKIE, small.clone()).unwrap();
    let far = Node::start_with(FAR, COOKIE, small).unwrap();
    let (sender, receiver) = dyntrace::spawn(async move {
        let mut inbox = far.register("box").unwrap();
        seq_trace::set_token(42, Flags::SEND).unwrap();
        near.send(("box", FAR), term!({ok, 1})).await.unwrap();
        seq_trace::take_token();
        next(&mut inbox).await;
        seq_trace::take_token();
        // 128 MiB at most, to who takes none of it.
        for _ in 0..128 {
            let send = near.send(("box", FAR), term!((vec![0u8; 1 << 20])));
            if tokio::time::timeout(Duration::from_millis(500), send).await.is_err() {
                break;
            }
        }
        (process::current().to_string(), format!("<0.{}.0>", inbox.pid().id))
    })
    .await
    .unwrap();
    session.stop().unwrap();

    let trace = Trace::open(directory.path()).unwrap();
    let show = |value| match value {
        Value::Signed(number) => number.to_string(),
        Value::Unsigned(number) => number.to_string(),
        Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
    };
    let lines: Vec<String> = trace
        .events()
        .map(|event| {
            let fields: Vec<String> = event.fields().map(|(_, value)| show(value)).collect();
            format!("{} {}", event.class.name, fields.join(" "))
        })
        .collect();
    for expected in [
        format!("dyntrace:message-send-remote {sender} {FAR} box 3 42 0 1"),
        format!("dyntrace:message-queued {receiver} 3 1 42 0 1"),
        format!("dyntrace:message-receive {receiver} 3 0 42 0 1"),
        // A binary of that size is six words, and the rest is only referred to.
        format!("dyntrace:message-send-remote {sender} {FAR} box 6 0 0 0"),
        format!("dyntrace:dist-port-busy {NEAR} {FAR} {FAR} {sender}"),
    ] {
        assert!(lines.contains(&expected), "{expected}: {lines:#?}");
    }
}
