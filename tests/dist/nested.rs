//! `dyntrace view --token`: one request through processes, nodes and file operations, as one nested listing.

use std::path::Path;
use std::process::Command;

use crate::world;

/// The listing of a trace token: for each line, how far to the right it stands, and the line.
pub fn listing(dyntrace: &Path, trace: &Path, label: i32) -> Vec<(usize, String)> {
    let output = Command::new(dyntrace).arg("view").arg(trace).args(["--token", &label.to_string()]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let listing = String::from_utf8(output.stdout).unwrap();
    listing.lines().map(|line| ((line.len() - line.trim_start().len()) / 2, line.trim_start().to_owned())).collect()
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
        // Others were told that it has ended.
        drop(first);
        assert_ne!(of.inbox().pid(), own);
        let child = of.clone();
        dyntrace::spawn(async move { assert_eq!(child.inbox().pid(), child.pid()) }).await.unwrap();
    });
    process.await.unwrap();
    // This task is no process, nor is the thread only its own.
    tokio::spawn(async move { assert_ne!(node.inbox().pid(), node.pid()) }).await.unwrap();
}

/// A request of a real node to the example, as the head of its source says.
pub fn assert_is_nested(listing: &[(usize, String)]) {
    let received: Vec<_> = listing.iter().skip_while(|(_, line)| !line.starts_with("receive:")).collect();
    let pid = received.first().and_then(|(_, line)| line.split_whitespace().nth(1)).expect("it is received");
    // The message that led to it is one; the reading and the answer are of the process that receives.
    assert_eq!(received.len(), 6, "{listing:#?}");
    assert!(received.iter().all(|(place, line)| *place == 1 && line.contains(pid)), "{listing:#?}");
}
