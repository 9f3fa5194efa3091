//! `dyntrace view --token` lists one request through processes, nodes and file operations, indented by causal depth.

use std::path::Path;
use std::process::Command;

use dyntrace::dist::{Term, term};
use dyntrace::recorder::{Options, Session};
use dyntrace::seq_trace::{self, Flags};
use tokio::sync::oneshot;

use crate::command::dyntrace;
use crate::erl::{connected, next};
use crate::world;

/// Returns the listing of a trace token: each line with its indentation.
pub fn listing(dyntrace: &Path, trace: &Path, label: i32) -> Vec<(usize, String)> {
    let output = Command::new(dyntrace).arg("view").arg(trace).args(["--token", &label.to_string()]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let listing = String::from_utf8(output.stdout).unwrap();
    listing.lines().map(|line| ((line.len() - line.trim_start().len()) / 2, line.trim_start().to_owned())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_two_nodes_of_ours_and_one_of_erlang_between_them() {
    const NEAR: &str = "nested-near@127.0.0.1";
    const MIDDLE: &str = "nested-middle@127.0.0.1";
    let Some(dyntrace) = dyntrace() else { return };
    let mut world = world!();
    let (near, far) = (world.node(NEAR), world.node("nested-far@127.0.0.1"));
    world.erl("-name", MIDDLE, &[]);
    connected(&near, MIDDLE).await;
    connected(&far, MIDDLE).await;
    let trace = tempfile::tempdir().unwrap();
    let session = Session::start(Options::new(trace.path())).unwrap();
    let (tell, told) = oneshot::channel();
    let far = dyntrace::spawn(async move {
        let mut inbox = far.inbox();
        tell.send(inbox.pid()).unwrap();
        let request = next(&mut inbox).await;
        let read = dyntrace::fs::read("/etc/hostname").await.unwrap();
        inbox.send(("asks", NEAR), term!((read.len()))).await.unwrap();
        (dyntrace::process::current().to_string(), request.term)
    });
    let near = dyntrace::spawn(async move {
        let mut inbox = near.register("asks").unwrap();
        let receiver = told.await.unwrap();
        seq_trace::set_token(7, Flags::SEND).unwrap();
        // The Erlang node forwards it to the pid in it.
        inbox.send(("driver", MIDDLE), term!({(receiver), echo, hostname})).await.unwrap();
        let answer = next(&mut inbox).await;
        seq_trace::take_token();
        assert!(matches!(answer.term, Term::FixInteger(_)), "{}", answer.term);
        dyntrace::process::current().to_string()
    });
    let near = near.await.unwrap();
    let (far, request) = far.await.unwrap();
    assert_eq!(request, term!({echo, hostname}));
    session.stop().unwrap();

    let listing = listing(&dyntrace, trace.path(), 7);
    let places = |of: &dyn Fn(&str) -> bool| -> Vec<usize> {
        listing.iter().filter(|(_, line)| of(line)).map(|(place, _)| *place).collect()
    };
    let line = |kind: &'static str, pid: &str| {
        let begin = format!("{pid} ");
        move |line: &str| line.strip_prefix(kind).is_some_and(|rest| rest.trim_start().starts_with(&begin))
    };
    assert_eq!(places(&line("send:", &near)), [0], "{listing:#?}");
    // Depth 1 is the message to the Erlang node, depth 2 its message.
    assert_eq!(places(&line("receive:", &far)), [2], "{listing:#?}");
    let operations = places(&line("", &far));
    assert!(operations.len() >= 4 && operations.iter().all(|place| *place == 2), "{listing:#?}");
    assert_eq!(places(&line("send:", &far)), [2], "{listing:#?}");
    assert_eq!(places(&line("receive:", &near)), [3], "{listing:#?}");
}

#[tokio::test]
async fn an_inbox_is_the_process_that_opens_it_first() {
    let world = world!();
    let node = world.node("nested-own@127.0.0.1");
    let of = node.clone();
    let process = dyntrace::spawn(async move {
        let own = of.pid();
        let first = of.inbox();
        assert_eq!(first.pid(), own);
        let second = of.inbox();
        assert_ne!(second.pid(), own);
        // The pid of an ended inbox is not used again.
        drop(first);
        assert_ne!(of.inbox().pid(), own);
        let child = of.clone();
        dyntrace::spawn(async move { assert_eq!(child.inbox().pid(), child.pid()) }).await.unwrap();
    });
    process.await.unwrap();
    // This task is not a process and shares its thread.
    tokio::spawn(async move { assert_ne!(node.inbox().pid(), node.pid()) }).await.unwrap();
}

/// An Erlang node sends a request to the example, by the documentation in its source.
pub fn assert_is_nested(listing: &[(usize, String)]) {
    let mut received: Vec<_> = listing.iter().skip_while(|(_, line)| !line.starts_with("receive:")).collect();
    // If the read of the task's thread missed, efile_drv-int_entry fires again.
    received.dedup();
    let pid = received.first().and_then(|(_, line)| line.split_whitespace().nth(1)).expect("it is received");
    // Depth 1 is the request; the receiving process reads and answers.
    assert_eq!(received.len(), 6, "{listing:#?}");
    assert!(received.iter().all(|(place, line)| *place == 1 && line.contains(pid)), "{listing:#?}");
}
