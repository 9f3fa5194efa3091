//! Slow peers are not silent: any byte is a sign of life, even without a whole message.

use std::time::Duration;

use dyntrace::dist::{Node, Options, term};
use erl_dist::message::Message;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::erl::{COOKIE, World, in_the_end, next};
use crate::hostile::{Hostile, PEER, frame};
use crate::world;

const TICK: Duration = Duration::from_millis(800);

fn node(world: &World) -> Node {
    Node::start_with("near@127.0.0.1", COOKIE, Options { tick_time: TICK, ..world.options() }).unwrap()
}

#[tokio::test]
async fn a_message_may_take_longer_than_the_tick_time_to_arrive() {
    let world: World = world!();
    let node = node(&world);
    let mut inbox = node.inbox();
    let mut peer = Hostile::connect(node.address()).await;
    let bytes = frame(Message::send_sender(peer.pid(1), inbox.pid(), term!(<<"slowly">>)));
    // The bytes take three times that time.
    let pause = 3 * TICK / bytes.len() as u32;
    for byte in bytes {
        peer.socket.write_all(&[byte]).await.unwrap();
        tokio::time::sleep(pause).await;
    }
    assert_eq!(next(&mut inbox).await.term, term!(<<"slowly">>));
    assert_eq!(node.nodes(), [PEER]);
    // In the middle of the next message it becomes silent.
    peer.socket.write_all(&[0, 0, 0, 9, 112]).await.unwrap();
    let ended = async {
        while !node.nodes().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    in_the_end(ended).await;
    let lost = node.lost_connections();
    assert!(lost[0].reason.contains("nothing came from it"), "{:?}", lost[0]);
}

#[tokio::test]
async fn a_peer_that_reads_slowly_and_ticks_is_alive() {
    let world: World = world!();
    let node = node(&world);
    let mut peer = Hostile::connect(node.address()).await;
    while node.nodes().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    const SENT: usize = 24 << 20;
    node.send(("sink", PEER), term!((vec![7u8; SENT]))).await.unwrap();
    let mut read = 0;
    let mut bytes = vec![0; 256 << 10];
    while read < SENT {
        tokio::time::sleep(Duration::from_millis(30)).await;
        read += in_the_end(peer.socket.read(&mut bytes)).await.unwrap();
        peer.socket.write_all(&[0; 4]).await.unwrap();
    }
    assert_eq!(node.nodes(), [PEER]);
    assert_eq!(node.lost_connections(), []);
}
