//! The end of a node: messages sent before still arrive.

use std::time::Duration;

use dyntrace::dist::{Received, term};
use tokio::io::AsyncWriteExt;

use crate::erl::{World, in_the_end, next};
use crate::hostile::{Hostile, PEER};
use crate::world;

const NEAR: &str = "near@127.0.0.1";
const FAR: &str = "far@127.0.0.1";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_arrive_though_their_node_has_ended() {
    let world: World = world!();
    let far = world.node(FAR);
    let mut at_far = far.register("at_far").unwrap();
    for round in 0..10 {
        let near = world.node(NEAR);
        near.connect(FAR).await.unwrap();
        // Unread bytes at the close of the socket must not make the kernel reset the connection.
        let from_far = far.clone();
        let floods = tokio::spawn(async move {
            while from_far.send(("nobody", NEAR), term!((vec![1u8; 1000]))).await.is_ok() {
                tokio::task::consume_budget().await;
            }
        });
        const COUNT: usize = 200;
        for number in 0..COUNT {
            near.send(("at_far", FAR), term!({(number), (vec![2u8; 20_000])})).await.unwrap();
        }
        drop(near);
        for number in 0..COUNT {
            let message = next(&mut at_far).await;
            assert_eq!(message.term, term!({(number), (vec![2u8; 20_000])}), "round {round}");
        }
        in_the_end(floods).await.unwrap();
    }
}

#[tokio::test]
async fn links_are_told_the_reason_though_the_node_has_ended() {
    let world: World = world!();
    let (near, far) = (world.node(NEAR), world.node(FAR));
    let at_near = near.register("at_near").unwrap();
    let mut at_far = far.inbox();
    at_far.link(&at_near.pid()).await.unwrap();
    at_near.send(at_far.pid(), term!(linked)).await.unwrap();
    assert_eq!(next(&mut at_far).await.term, term!(linked));
    drop(near);
    // The end of the last inbox ends the node.
    at_near.exit(term!(done));
    match in_the_end(at_far.recv()).await {
        Received::Exit { reason, .. } => assert_eq!(reason, term!(done)),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_peer_that_reads_nothing_does_not_keep_an_ended_node() {
    let world: World = world!();
    let near = world.node(NEAR);
    let mut peer = Hostile::connect(near.address()).await;
    while near.nodes().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    near.send(("sink", PEER), term!((vec![7u8; 24 << 20]))).await.unwrap();
    drop(near);
    let closed = async {
        // Ticks.
        while peer.socket.write_all(&[0; 4]).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    in_the_end(closed).await;
}
