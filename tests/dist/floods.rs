//! Many messages to slow receivers.

use std::time::Duration;

use dyntrace::dist::{Node, Options, Term, term};

use crate::erl::{COOKIE, ask, connected, next, tell};
use crate::world;

const ERL: &str = "erl@127.0.0.1";
const COUNT: i32 = 100_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_arrives_whole_and_in_order() {
    let mut world = world!();
    let node = world.node("worker@127.0.0.1");
    world.erl("-name", ERL, &[]);
    connected(&node, ERL).await;
    let mut inbox = node.inbox();

    tell(&inbox, ERL, vec![term!(flood), term!((inbox.pid())), term!((COUNT))]).await;
    for n in (1..=COUNT).rev() {
        assert_eq!(next(&mut inbox).await.term, term!({n, (n)}), "the {n}th before the last");
    }
    assert_eq!(next(&mut inbox).await.term, term!(flooded));

    assert_eq!(ask(&mut inbox, ERL, vec![term!(count), term!((COUNT))]).await.term, term!(counting));
    for n in (1..=COUNT).rev() {
        inbox.send(("driver", ERL), term!({n, (n)})).await.unwrap();
    }
    assert_eq!(next(&mut inbox).await.term, term!({counted, true}));
}

const LIMIT: usize = 1 << 20;

fn bounded(world: &crate::erl::World, name: &str) -> Node {
    let options = Options { mailbox_limit: LIMIT, busy_limit: LIMIT, ..world.options() };
    Node::start_with(name, COOKIE, options).unwrap()
}

#[tokio::test]
async fn an_inbox_that_nobody_reads_stops_its_senders() {
    let mut world = world!();
    let node = bounded(&world, "worker@127.0.0.1");
    world.erl("-name", ERL, &[]);
    connected(&node, ERL).await;
    let mut inbox = node.inbox();
    let slow = node.inbox();

    // 1 GiB. Only the capacity of an inbox, the sockets and the sender's own buffers is accepted.
    let answer = {
        tell(&inbox, ERL, vec![term!(unsuspended), term!((slow.pid())), term!(65536), term!(16384)]).await;
        tokio::time::timeout(Duration::from_secs(2), inbox.recv_message()).await
    };
    // The answer is queued behind the unread messages: it arrives after the slow inbox is dropped.
    assert!(answer.is_err());
    drop(slow);
    let Term::Tuple(answer) = next(&mut inbox).await.term else { panic!("a tuple") };
    let Term::FixInteger(sent) = &answer.elements[1] else { panic!("a number") };
    assert!((16..1024).contains(&sent.value), "{} messages of 64 KiB went out", sent.value);
}

#[tokio::test]
async fn a_peer_that_does_not_read_stops_our_senders() {
    let world = world!();
    let (near, far) = (bounded(&world, "near@127.0.0.1"), bounded(&world, "far@127.0.0.1"));
    let mut slow = far.register("slow").unwrap();
    let bytes = vec![7u8; 65536];
    let mut sent = 0;
    // Until no message was sent for a second.
    loop {
        let send = near.send(("slow", "far@127.0.0.1"), term!({sent, (bytes.clone())}));
        match tokio::time::timeout(Duration::from_secs(1), send).await {
            Ok(done) => done.unwrap(),
            Err(_) => break,
        }
        sent += 1;
        assert!(sent < 1024, "64 MiB went to nobody");
    }
    assert!(sent > 16);
    // The waiting message was not sent; all messages before it arrive.
    let arrived = async {
        let mut arrived = 0;
        while next(&mut slow).await.term != term!(done) {
            arrived += 1;
        }
        arrived
    };
    let (last, arrived) = tokio::join!(near.send(("slow", "far@127.0.0.1"), term!(done)), arrived);
    last.unwrap();
    assert_eq!(arrived, sent);
}
